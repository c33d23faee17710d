import type { Server, ServerSettings } from '../../model/index.js';

/** A disk that a request describes in full. Sizes in GiB; of swap in MiB. */
export interface RequestedDevice {
  readonly source?: 'volume' | 'image' | 'snapshot' | 'blank';
  readonly destination?: 'local' | 'volume';
  /** The volume, image or snapshot. */
  readonly sourceId?: string;
  /** Null and negative numbers: nothing boots from it. */
  readonly bootIndex?: number | null;
  readonly size?: number;
  readonly volumeType?: string | null;
  readonly device?: string;
  readonly deleteOnTermination?: boolean;
  /** Takes away a disk that the image brings along under this device name. */
  readonly noDevice?: boolean;
  readonly guestFormat?: string;
  readonly deviceType?: string;
  readonly diskBus?: string;
  readonly tag?: string;
}

/** A disk in the older way of describing one. */
export interface LegacyDevice {
  /** `swap` or `ephemeral0`, `ephemeral1`, ... */
  readonly virtualName?: string;
  readonly volumeId?: string;
  readonly snapshotId?: string;
  readonly size?: number;
  readonly device?: string;
  readonly deleteOnTermination?: boolean;
  readonly noDevice?: boolean;
}

/** A network, a port or an address that a new server is to have. */
export interface RequestedNetwork {
  readonly networkId?: string;
  readonly portId?: string;
  readonly address?: string;
  readonly tag?: string;
}

/** What a caller may do beyond what everybody may; default: what administrators may. */
export interface CreatePermissions {
  /** Servers with a local root disk of a flavor that has none. */
  readonly zeroDiskFlavor?: boolean;
  /** Interfaces on external networks. */
  readonly externalNetwork?: boolean;
  /** Volumes that several servers share; default true. */
  readonly multiattach?: boolean;
  /** Ports that ask for bandwidth or packet rates; default true. */
  readonly resourceRequest?: boolean;
}

/** A request for servers, after the schema has been checked. Names as in the model. */
export interface NewServer extends Partial<ServerSettings> {
  readonly name: string;
  readonly flavorId: string;
  /** Empty or left out: the server boots from a volume. */
  readonly imageId?: string;
  readonly keyName?: string;
  readonly configDrive?: boolean;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
  /** Names or ids. */
  readonly securityGroups?: readonly string[];
  /** `none`, `auto`, or what was asked for; left out or empty: the only network there is. */
  readonly networks?: 'none' | 'auto' | readonly RequestedNetwork[];
  readonly devices?: readonly RequestedDevice[];
  /** Not together with `devices`. */
  readonly legacyDevices?: readonly LegacyDevice[];
  /** `zone`, `zone:host`, `zone:host:node` or `zone::node`. */
  readonly zone?: string;
  /** A host by name: the scheduler has to agree, unlike with a host named by `zone`. */
  readonly host?: string;
  readonly hypervisorHostname?: string;
  readonly hints?: Readonly<Record<string, unknown>>;
  readonly minCount?: number;
  readonly maxCount?: number;
  readonly hostname?: string;
  readonly adminPassword?: string;
  /** Contents in base64. */
  readonly files?: readonly { readonly path: string; readonly contents: string }[];
  readonly may?: CreatePermissions;
}

export interface CreatedServers {
  readonly servers: readonly Server[];
  readonly adminPassword: string;
  readonly reservationId: string;
}
