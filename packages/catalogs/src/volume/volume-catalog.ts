import type { Caller } from '../caller/caller.js';

/** The status of a volume. Only `available` volumes and `in-use` multiattach volumes can be attached. */
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

/** The status of a volume attachment. */
export type AttachmentStatus = 'reserved' | 'attaching' | 'attached' | 'detaching' | 'detached';

/** An attachment of a volume to a server. */
export interface VolumeAttachment {
  /** The attachment's UUID. */
  readonly id: string;
  readonly volumeId: string;
  readonly serverId: string;
  readonly status: AttachmentStatus;
  readonly host: string | null;
  readonly device: string | null;
  readonly attachedAt: number | null;
  readonly detachedAt: number | null;
  /** The access mode: `rw` or `ro`. */
  readonly mode: string;
  /** The data that the host needs to connect the volume. Empty before the `connect()` call. */
  readonly connection: Readonly<Record<string, unknown>>;
}

/** A block storage volume. The size is in GiB, and times are in milliseconds since the epoch. */
export interface Volume {
  /** The volume's UUID. */
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
  /** The name of the volume type. */
  readonly volumeType: string | null;
  readonly snapshotId: string | null;
  readonly sourceVolumeId: string | null;
  /** The source image's metadata: `image_id`, `min_ram`, ..., and the image's properties. */
  readonly imageMetadata: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * The migration status: `migrating` while the volume service moves the volume. A server can switch to the new volume
   * only in this status.
   */
  readonly migrationStatus: string | null;
  readonly attachments: readonly VolumeAttachment[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The filters and the page of a volume list. A volume must match all filters. */
export interface VolumeQuery {
  readonly name?: string;
  readonly status?: VolumeStatus;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether to list the volumes of all projects. Has an effect only for administrators. */
  readonly allProjects?: boolean;
  readonly projectId?: string;
  readonly limit?: number;
  /** The number of volumes to skip. */
  readonly offset?: number;
  /** The id of the last volume on the previous page. */
  readonly marker?: string;
}

/** The fields of a new volume. The size is in GiB. */
export interface NewVolume {
  /**
   * A UUID chosen by the caller. A repeated call returns the same volume. The embedded catalog uses the key as the id.
   */
  readonly key: string;
  /** The size. Optional only if the volume is created from a snapshot or another volume. */
  readonly sizeGb?: number;
  readonly name?: string | null;
  readonly description?: string | null;
  /** The volume type, by name or id. */
  readonly volumeType?: string | null;
  readonly availabilityZone?: string | null;
  /**
   * The image from which the volume is created. At most one of `imageId`, `snapshotId` and `sourceVolumeId` is
   * permitted. Without these fields, the volume is blank.
   */
  readonly imageId?: string | null;
  readonly snapshotId?: string | null;
  readonly sourceVolumeId?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The status of a snapshot. Volumes can be created only from `available` snapshots. */
export type SnapshotStatus = 'creating' | 'available' | 'deleting' | 'deleted' | 'error' | 'error_deleting';

/** A copy of a volume's data at a point in time. The size is in GiB, and times are in milliseconds since the epoch. */
export interface VolumeSnapshot {
  /** The snapshot's UUID. */
  readonly id: string;
  readonly volumeId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly status: SnapshotStatus;
  /** The progress of the snapshot as a percentage, from `0%` to `100%`. */
  readonly progress: string;
  readonly sizeGb: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The filters and the page of a snapshot list. A snapshot must match all filters. */
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

/** The fields of a new snapshot. */
export interface NewSnapshot {
  /** A UUID chosen by the caller. A repeated call returns the same snapshot. */
  readonly key: string;
  readonly volumeId: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Whether to create the snapshot even if the volume is attached to a server. */
  readonly force?: boolean;
}

/** A volume type, which determines the kind of storage for a volume. */
export interface VolumeType {
  /** The volume type's UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly isPublic: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

/** The host's side of the connection to a volume. */
export interface Connector {
  readonly host: string;
  /** The volume's device path in the guest. */
  readonly mountpoint: string | null;
  readonly [key: string]: unknown;
}

/**
 * The catalog of volumes, snapshots and attachments to servers. Every method throws {@link CatalogError}. For resources
 * that the caller may not see, the code is `..._NOT_FOUND`.
 */
export interface VolumeCatalog {
  getVolume(caller: Caller, id: string): Promise<Volume>;
  listVolumes(caller: Caller, query?: VolumeQuery): Promise<readonly Volume[]>;
  /**
   * Creates a volume. The result may still be `creating` or `downloading`. The final status is `available` or `error`.
   */
  createVolume(caller: Caller, volume: NewVolume): Promise<Volume>;
  /**
   * Deletes a volume. Idempotent.
   *
   * @throws `VOLUME_WRONG_STATUS` if the volume is in use or has snapshots
   */
  deleteVolume(caller: Caller, id: string): Promise<void>;

  getSnapshot(caller: Caller, id: string): Promise<VolumeSnapshot>;
  listSnapshots(caller: Caller, query?: SnapshotQuery): Promise<readonly VolumeSnapshot[]>;
  /**
   * Creates a snapshot.
   *
   * @param onCaptured called when guests may write to the volume again because later writes no longer affect the
   * snapshot. Not called if the snapshot is already complete at that time.
   */
  createSnapshot(caller: Caller, snapshot: NewSnapshot, onCaptured?: () => void): Promise<VolumeSnapshot>;
  /** Deletes a snapshot. Idempotent. */
  deleteSnapshot(caller: Caller, id: string): Promise<void>;
  /** Sets the status and the progress of a snapshot that a host creates or deletes on behalf of the volume service. */
  updateSnapshotStatus(caller: Caller, id: string, status: SnapshotStatus, progress?: string): Promise<void>;

  /** Finds a volume type by name or id. */
  getType(caller: Caller, nameOrId: string): Promise<VolumeType>;

  /**
   * Reserves a volume for a server, which is the first step of attaching the volume. An `available` volume becomes
   * `reserved`. A multiattach volume may be `in-use` already. Idempotent: returns an existing attachment with the same
   * key, or an existing reserved attachment of the volume to the server.
   *
   * @throws `VOLUME_WRONG_STATUS`
   */
  reserve(
    caller: Caller,
    attachment: { readonly key: string; readonly volumeId: string; readonly serverId: string },
  ): Promise<VolumeAttachment>;
  /**
   * Connects a host to a reserved volume, which is the second step of attaching the volume. The attachment becomes
   * `attaching` and contains the connection data. Idempotent.
   */
  connect(caller: Caller, attachmentId: string, connector: Connector): Promise<VolumeAttachment>;
  /** Completes an attachment, which is the last step of attaching a volume. The volume becomes `in-use`. Idempotent. */
  complete(caller: Caller, attachmentId: string): Promise<void>;
  getAttachment(caller: Caller, attachmentId: string): Promise<VolumeAttachment>;
  /** Deletes an attachment in any status. A volume without attachments becomes `available`. Idempotent. */
  deleteAttachment(caller: Caller, attachmentId: string): Promise<void>;
  /**
   * Changes a volume's status from `in-use` to `detaching`.
   *
   * @throws `VOLUME_WRONG_STATUS`
   */
  beginDetaching(caller: Caller, volumeId: string): Promise<void>;
  /** Changes a volume's status from `detaching` back to `in-use`. No-op for other statuses. */
  rollbackDetaching(caller: Caller, volumeId: string): Promise<void>;

  /** Completes the extension of an `extending` volume. `failed` is true if the host could not detect the new size. */
  completeExtend(caller: Caller, volumeId: string, failed: boolean): Promise<void>;
  /**
   * Overwrites an `available`, `error` or `reserved` volume with an image. While the image is written, the status can
   * be `downloading`.
   */
  reimage(caller: Caller, volumeId: string, imageId: string): Promise<void>;
  /**
   * Completes a migration after the server has switched to the new volume. With `failed`, cancels the migration, and
   * the server continues to use the old volume. Returns the id of the volume that contains the data.
   */
  completeMigration(caller: Caller, oldVolumeId: string, newVolumeId: string, failed: boolean): Promise<string>;
}
