import type { Caller } from '../caller/caller.js';

/** What a volume is doing: only `available` ones can be attached. */
export type VolumeStatus =
  | 'creating'
  | 'available'
  | 'reserved'
  | 'attaching'
  | 'in-use'
  | 'detaching'
  | 'deleting'
  | 'downloading'
  | 'uploading'
  | 'extending'
  | 'retyping'
  | 'maintenance'
  | 'awaiting-transfer'
  | 'backing-up'
  | 'restoring-backup'
  | 'error'
  | 'error_deleting'
  | 'error_extending'
  | 'error_restoring';

/** How far the tie of a volume to a server is. */
export type AttachmentStatus = 'reserved' | 'attaching' | 'attached' | 'detaching' | 'detached';

/** A volume's tie to a server. */
export interface VolumeAttachment {
  /** UUID. */
  readonly id: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly status: AttachmentStatus;
  readonly host: string | null;
  readonly device: string | null;
  readonly attachedAt: number | null;
  readonly detachedAt: number | null;
  /** `rw` or `ro`. */
  readonly mode: string;
  /** How the host reaches the volume; empty before it is connected. */
  readonly connection: Readonly<Record<string, unknown>>;
}

/** A volume. Size in GiB, times in milliseconds since the epoch. */
export interface Volume {
  /** UUID. */
  readonly id: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly status: VolumeStatus;
  readonly sizeGb: number;
  readonly bootable: boolean;
  readonly multiattach: boolean;
  readonly encrypted: boolean;
  readonly availabilityZone: string;
  /** Name of the type. */
  readonly volumeType: string | null;
  readonly snapshotId: string | null;
  readonly sourceVolumeId: string | null;
  /** What is known of the image it was made from; `image_id`, `min_ram`, ... and the image's properties. */
  readonly imageMetadata: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** `migrating` while the volume service moves it: only then may it be swapped. */
  readonly migrationStatus: string | null;
  readonly attachments: readonly VolumeAttachment[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which volumes are meant; everything given must hold. */
export interface VolumeQuery {
  readonly name?: string;
  readonly status?: VolumeStatus;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Everybody's; admins only. */
  readonly allProjects?: boolean;
  readonly projectId?: string;
  readonly limit?: number;
  /** Skip so many. */
  readonly offset?: number;
  /** Id of the last one of the page before. */
  readonly marker?: string;
}

/** A volume to be made. Sizes in GiB. */
export interface NewVolume {
  /** UUID chosen by the caller: the same call made twice gives the same volume. The embedded catalog makes it the id. */
  readonly key: string;
  /** Left out only where a snapshot or a volume says it. */
  readonly sizeGb?: number;
  readonly name?: string | null;
  readonly description?: string | null;
  /** Name or id. */
  readonly volumeType?: string | null;
  readonly availabilityZone?: string | null;
  /** At most one of the three; none: blank. */
  readonly imageId?: string | null;
  readonly snapshotId?: string | null;
  readonly sourceVolumeId?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How far a snapshot is: only `available` ones make volumes. */
export type SnapshotStatus = 'creating' | 'available' | 'deleting' | 'deleted' | 'error' | 'error_deleting';

/** What a volume held at one moment. Sizes in GiB, times in milliseconds since the epoch. */
export interface VolumeSnapshot {
  /** UUID. */
  readonly id: string;
  readonly volumeId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly status: SnapshotStatus;
  /** Percent, as `0%` .. `100%`. */
  readonly progress: string;
  readonly sizeGb: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which snapshots are meant; everything given must hold. */
export interface SnapshotQuery {
  readonly volumeId?: string;
  readonly name?: string;
  readonly status?: SnapshotStatus;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly allProjects?: boolean;
  readonly projectId?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly marker?: string;
}

/** A snapshot to be made of a volume. */
export interface NewSnapshot {
  /** UUID chosen by the caller, as for volumes. */
  readonly key: string;
  readonly volumeId: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Also while the volume is in use. */
  readonly force?: boolean;
}

/** A kind of storage that volumes can be made of. */
export interface VolumeType {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly isPublic: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

/** The side of a connection that a compute host knows. */
export interface Connector {
  readonly host: string;
  /** Device path in the guest. */
  readonly mountpoint: string | null;
  readonly [key: string]: unknown;
}

/**
 * Volumes, their snapshots and their attachments to servers.
 * Every method throws {@link CatalogError}; what the caller may not see is `..._NOT_FOUND`.
 */
export interface VolumeCatalog {
  getVolume(caller: Caller, id: string): Promise<Volume>;
  listVolumes(caller: Caller, query?: VolumeQuery): Promise<readonly Volume[]>;
  /** The volume may be `creating` or `downloading` for a while; it ends as `available` or `error`. */
  createVolume(caller: Caller, volume: NewVolume): Promise<Volume>;
  /** One that is gone, or going, is fine. Throws `VOLUME_WRONG_STATUS` while it is in use or has snapshots. */
  deleteVolume(caller: Caller, id: string): Promise<void>;

  getSnapshot(caller: Caller, id: string): Promise<VolumeSnapshot>;
  listSnapshots(caller: Caller, query?: SnapshotQuery): Promise<readonly VolumeSnapshot[]>;
  /** @param taken called, where that is earlier, as soon as the snapshot is one of a moment that has passed: guests may write again */
  createSnapshot(caller: Caller, snapshot: NewSnapshot, taken?: () => void): Promise<VolumeSnapshot>;
  /** One that is gone, or going, is fine. */
  deleteSnapshot(caller: Caller, id: string): Promise<void>;
  /** What the host reports of a snapshot it makes or removes for the volume service. */
  updateSnapshotStatus(caller: Caller, id: string, status: SnapshotStatus, progress?: string): Promise<void>;

  /** By name or id. */
  getType(caller: Caller, nameOrId: string): Promise<VolumeType>;

  /**
   * First step of attaching: an `available` volume becomes `reserved` (one that is multiattach may be `in-use`). Made
   * twice with the same key, or for a volume and server that have a reserved attachment: the same attachment.
   * Throws `VOLUME_WRONG_STATUS`.
   */
  reserve(
    caller: Caller,
    attachment: { readonly key: string; readonly volumeId: string; readonly serverId: string },
  ): Promise<VolumeAttachment>;
  /** Second step, on the host: the attachment is `attaching` and says how to reach the volume. May be repeated. */
  connect(caller: Caller, attachmentId: string, connector: Connector): Promise<VolumeAttachment>;
  /** Last step: the volume is `in-use`. May be repeated. */
  complete(caller: Caller, attachmentId: string): Promise<void>;
  getAttachment(caller: Caller, attachmentId: string): Promise<VolumeAttachment>;
  /** Ends an attachment in whatever step it is; the last one makes the volume `available`. One that is gone is fine. */
  deleteAttachment(caller: Caller, attachmentId: string): Promise<void>;
  /** `in-use` becomes `detaching`. Throws `VOLUME_WRONG_STATUS`. */
  beginDetaching(caller: Caller, volumeId: string): Promise<void>;
  /** Back to `in-use`; nothing when it is not `detaching`. */
  rollbackDetaching(caller: Caller, volumeId: string): Promise<void>;

  /** The host has seen the new size of a volume that is `extending`, or could not. */
  completeExtend(caller: Caller, volumeId: string, failed: boolean): Promise<void>;
  /** Writes an image over an `available`, `error` or reserved volume; it is `downloading` meanwhile. */
  reimage(caller: Caller, volumeId: string, imageId: string): Promise<void>;
  /**
   * The server now uses the new volume instead of the old one (or, `failed`, still the old one).
   * Resolves to the id under which the content lives on.
   */
  completeMigration(caller: Caller, oldVolumeId: string, newVolumeId: string, failed: boolean): Promise<string>;
}
