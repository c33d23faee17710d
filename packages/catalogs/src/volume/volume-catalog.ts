import type { Caller } from '../caller/caller.js';

/** Status of a volume; only `available` volumes can be attached. */
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

/** Status of an attachment. */
export type AttachmentStatus = 'reserved' | 'attaching' | 'attached' | 'detaching' | 'detached';

/** An attachment of a volume to a server. */
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
  /** Connection data for the host; empty before `connect`. */
  readonly connection: Readonly<Record<string, unknown>>;
}

/** A volume. The size is in GiB, times are in milliseconds since the epoch. */
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
  /** Metadata of the volume's image: `image_id`, `min_ram`, ... and the image's properties. */
  readonly imageMetadata: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** `migrating` while the volume service moves it; the volume can be swapped only in this state. */
  readonly migrationStatus: string | null;
  readonly attachments: readonly VolumeAttachment[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Filters of volumes; all given ones must match. */
export interface VolumeQuery {
  readonly name?: string;
  readonly status?: VolumeStatus;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Volumes of all projects; administrators only. */
  readonly allProjects?: boolean;
  readonly projectId?: string;
  readonly limit?: number;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Id of the last item of the previous page. */
  readonly marker?: string;
}

/** Fields of a new volume. Sizes are in GiB. */
export interface NewVolume {
  /** UUID chosen by the caller: a repeated call returns the same volume. The embedded catalog uses it as the id. */
  readonly key: string;
  /** Optional only if a snapshot or a volume is the source. */
  readonly sizeGb?: number;
  readonly name?: string | null;
  readonly description?: string | null;
  /** Name or id. */
  readonly volumeType?: string | null;
  readonly availabilityZone?: string | null;
  /** The source of the content: at most one of the following three. Without a source, the volume is blank. */
  readonly imageId?: string | null;
  readonly snapshotId?: string | null;
  readonly sourceVolumeId?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Status of a snapshot; only `available` snapshots can be the source of volumes. */
export type SnapshotStatus = 'creating' | 'available' | 'deleting' | 'deleted' | 'error' | 'error_deleting';

/** The content of a volume at one moment. Sizes are in GiB, times are in milliseconds since the epoch. */
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

/** Filters of snapshots; all given ones must match. */
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

/** Fields of a new snapshot. */
export interface NewSnapshot {
  /** UUID chosen by the caller, as for volumes. */
  readonly key: string;
  readonly volumeId: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether to create it while the volume is in use. */
  readonly force?: boolean;
}

/** A type of storage for volumes. */
export interface VolumeType {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly isPublic: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

/** The host's side of a connection. */
export interface Connector {
  readonly host: string;
  /** Device path in the guest. */
  readonly mountpoint: string | null;
  readonly [key: string]: unknown;
}

/**
 * Volumes, their snapshots and their attachments to servers. Every method throws {@link CatalogError}; for
 * resources that the caller may not see, the code is `..._NOT_FOUND`.
 */
export interface VolumeCatalog {
  getVolume(caller: Caller, id: string): Promise<Volume>;
  listVolumes(caller: Caller, query?: VolumeQuery): Promise<readonly Volume[]>;
  /** Creates a volume. It may be `creating` or `downloading` for a while, and ends as `available` or `error`. */
  createVolume(caller: Caller, volume: NewVolume): Promise<Volume>;
  /**
   * Deletes a volume. Idempotent.
   *
   * @throws `VOLUME_WRONG_STATUS` while it is in use or has snapshots
   */
  deleteVolume(caller: Caller, id: string): Promise<void>;

  getSnapshot(caller: Caller, id: string): Promise<VolumeSnapshot>;
  listSnapshots(caller: Caller, query?: SnapshotQuery): Promise<readonly VolumeSnapshot[]>;
  /**
   * Creates a snapshot.
   *
   * @param onCaptured called as soon as the snapshot no longer includes later writes, if it is not complete yet: guests
   * may write again
   */
  createSnapshot(caller: Caller, snapshot: NewSnapshot, onCaptured?: () => void): Promise<VolumeSnapshot>;
  /** Deletes a snapshot. Idempotent. */
  deleteSnapshot(caller: Caller, id: string): Promise<void>;
  /** Reports the progress of a snapshot that the host creates or deletes for the volume service. */
  updateSnapshotStatus(caller: Caller, id: string, status: SnapshotStatus, progress?: string): Promise<void>;

  /** Finds a type by name or id. */
  getType(caller: Caller, nameOrId: string): Promise<VolumeType>;

  /**
   * First step of attaching: an `available` volume becomes `reserved` (a multiattach volume may be `in-use`).
   * Idempotent: with the same key, or for a volume and server with a reserved attachment, returns the same attachment.
   *
   * @throws `VOLUME_WRONG_STATUS`
   */
  reserve(
    caller: Caller,
    attachment: { readonly key: string; readonly volumeId: string; readonly serverId: string },
  ): Promise<VolumeAttachment>;
  /** Second step, on the host: the attachment is `attaching` and contains the connection data. Idempotent. */
  connect(caller: Caller, attachmentId: string, connector: Connector): Promise<VolumeAttachment>;
  /** Last step: the volume is `in-use`. Idempotent. */
  complete(caller: Caller, attachmentId: string): Promise<void>;
  getAttachment(caller: Caller, attachmentId: string): Promise<VolumeAttachment>;
  /** Ends an attachment in any step; after the last one, the volume is `available`. Idempotent. */
  deleteAttachment(caller: Caller, attachmentId: string): Promise<void>;
  /**
   * Changes `in-use` to `detaching`.
   *
   * @throws `VOLUME_WRONG_STATUS`
   */
  beginDetaching(caller: Caller, volumeId: string): Promise<void>;
  /** Changes `detaching` back to `in-use`; a no-op in other statuses. */
  rollbackDetaching(caller: Caller, volumeId: string): Promise<void>;

  /** Reports whether the host has detected the new size of a volume that is `extending`. */
  completeExtend(caller: Caller, volumeId: string, failed: boolean): Promise<void>;
  /** Writes an image to an `available`, `error` or reserved volume; it is `downloading` in the meantime. */
  reimage(caller: Caller, volumeId: string, imageId: string): Promise<void>;
  /**
   * Reports that the server uses the new volume instead of the old one (or, with `failed`, still the old one). Resolves
   * to the id of the volume that keeps the content.
   */
  completeMigration(caller: Caller, oldVolumeId: string, newVolumeId: string, failed: boolean): Promise<string>;
}
