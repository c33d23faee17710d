import type { Server, ServerSettings } from '../../model/index.js';

/** A block device in a create request. The size of a swap disk is in MiB; all other sizes are in GiB. */
export interface RequestedDevice {
  readonly source?: 'volume' | 'image' | 'snapshot' | 'blank';
  readonly destination?: 'local' | 'volume';
  /** Id of the volume, image or snapshot from which the device is created. */
  readonly sourceId?: string;
  /** Position in the boot order; null or negative if the device is not bootable. */
  readonly bootIndex?: number | null;
  readonly size?: number;
  readonly volumeType?: string | null;
  readonly device?: string;
  readonly deleteOnTermination?: boolean;
  /** Whether to remove the disk with this device name from the disks that the image defines. */
  readonly noDevice?: boolean;
  readonly guestFormat?: string;
  readonly deviceType?: string;
  readonly diskBus?: string;
  readonly tag?: string;
}

/** A block device in the legacy format. */
export interface LegacyDevice {
  /** The kind of a local disk: `swap`, or `ephemeral0`, `ephemeral1`, ... */
  readonly virtualName?: string;
  readonly volumeId?: string;
  readonly snapshotId?: string;
  readonly size?: number;
  readonly device?: string;
  readonly deleteOnTermination?: boolean;
  readonly noDevice?: boolean;
}

/** A network, port or address for a network interface of a new server. */
export interface RequestedNetwork {
  readonly networkId?: string;
  readonly portId?: string;
  readonly address?: string;
  readonly tag?: string;
}

/** Additional permissions of the caller. Unless stated otherwise, only administrators have them by default. */
export interface CreatePermissions {
  /** Whether servers may have a local root disk if the flavor's disk size is 0. */
  readonly zeroDiskFlavor?: boolean;
  /** Whether servers may have interfaces on external networks. */
  readonly externalNetwork?: boolean;
  /** Whether volumes may be shared with other servers. Default: true. */
  readonly multiattach?: boolean;
  /** Whether ports may request bandwidth or packet rates. Default: true. */
  readonly resourceRequest?: boolean;
}

/** A validated request to create servers, with the field names of the engine's model. */
export interface NewServer extends Partial<ServerSettings> {
  readonly name: string;
  readonly flavorId: string;
  /** Id of the image. If empty or omitted, the server boots from a volume. */
  readonly imageId?: string;
  readonly keyName?: string;
  readonly configDrive?: boolean;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
  /** Names or ids of security groups. */
  readonly securityGroups?: readonly string[];
  /** `none`, `auto`, or a list of networks. If the list is empty or omitted, the only available network is used. */
  readonly networks?: 'none' | 'auto' | readonly RequestedNetwork[];
  readonly devices?: readonly RequestedDevice[];
  /** Block devices in the legacy format. Cannot be combined with `devices`. */
  readonly legacyDevices?: readonly LegacyDevice[];
  /** The availability zone, optionally with a host: `zone`, `zone:host`, `zone:host:node` or `zone::node`. */
  readonly zone?: string;
  /** Name of the requested host. Unlike a host in `zone`, this host must pass all of the scheduler's filters. */
  readonly host?: string;
  readonly hypervisorHostname?: string;
  readonly hints?: Readonly<Record<string, unknown>>;
  readonly minCount?: number;
  readonly maxCount?: number;
  readonly hostname?: string;
  readonly adminPassword?: string;
  /** Files to inject into the server, with their contents in base64. */
  readonly files?: readonly { readonly path: string; readonly contents: string }[];
  readonly may?: CreatePermissions;
}

export interface CreatedServers {
  readonly servers: readonly Server[];
  readonly adminPassword: string;
  readonly reservationId: string;
}
