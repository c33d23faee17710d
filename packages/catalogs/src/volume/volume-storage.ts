import type { Caller } from '../caller/caller.js';

/** The initial data of a volume or snapshot: blank, an image, or a copy of another volume or snapshot. */
export type VolumeOrigin =
  | { readonly kind: 'blank' }
  | { readonly kind: 'image'; readonly imageId: string }
  | { readonly kind: 'copy'; readonly id: string };

/** The stored data of a volume or snapshot, and its creation time. */
export interface StoredVolume {
  /** The UUID of the volume or snapshot. */
  readonly id: string;
  /** The time at which the data was stored, in milliseconds since the epoch. */
  readonly storedAt: number;
}

/** The space of the storage that contains the data of all volumes, in bytes. */
export interface StorageUsage {
  /** The kind of the storage, such as `directory`. */
  readonly backend: string;
  readonly totalBytes: number;
  /** The space that new data can occupy. */
  readonly freeBytes: number;
  /** The space that the data of volumes and snapshots occupies. Data that several of them share counts once. */
  readonly allocatedBytes: number;
}

/** The storage of one host, with its space in GiB. */
export interface StoragePool {
  /** The name of the host; null for the computer of the process that serves the API. */
  readonly host: string | null;
  /** The host's availability zone. */
  readonly zone: string;
  /** Whether the host has a recent heartbeat. */
  readonly up: boolean;
  readonly backend: string;
  readonly totalGb: number;
  readonly freeGb: number;
}

/** The requirements of a new volume for the host that stores its data. */
export interface VolumePlacementRequest {
  readonly id: string;
  readonly sizeGb: number;
  readonly origin: VolumeOrigin;
  /** The requested availability zone; null for any. */
  readonly zone: string | null;
  /** The extra specs of the volume's type. */
  readonly extraSpecs: Readonly<Record<string, string>>;
  /** Hosts that must not store the volume. */
  readonly excludedHosts: readonly string[];
}

/** Selects the hosts that store volumes, if several hosts do. */
export interface VolumePlacement {
  /**
   * Selects a host for a new volume, and reserves space until the data is stored. A copy is placed on the host of its
   * source. Idempotent. Returns the host's pool; null if no host fits, and undefined if no host stores volumes.
   */
  place(request: VolumePlacementRequest): Promise<StoragePool | null | undefined>;
  /** Records that a volume or snapshot is on the host of another one, unless a host is recorded. */
  keepTogether(id: string, sourceId: string): Promise<void>;
  /** Returns the host of each volume or snapshot that a host stores. */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the storage of all hosts that store volumes. */
  pools(): Promise<readonly StoragePool[]>;
  /** Forgets the hosts of volumes and snapshots whose records have not existed for a long time. */
  cleanUp(): Promise<void>;
}

/**
 * Stores the data of volumes and snapshots for the embedded volume service. A driver with real disks implements this
 * interface. Sizes are in GiB. All operations must be idempotent, because they may be repeated after a crash. If an
 * operation fails, the volume's record does not change, and the error is `UNAVAILABLE`.
 */
export interface VolumeStorage {
  /**
   * Stores the data of a new volume or snapshot. The promise resolves when the data is complete.
   * @param onCaptured called when the source may change again because later changes no longer affect the copy. Not
   * called if the copy is already complete at that time.
   */
  create(
    caller: Caller,
    volume: { readonly id: string; readonly sizeGb: number; readonly origin: VolumeOrigin },
    onCaptured?: () => void,
  ): Promise<void>;
  /** Removes the data of a deleted volume or snapshot. */
  remove(id: string): Promise<void>;
  /** Extends a volume, which servers may be using. The `extend_volume` job notifies these servers. */
  extend(id: string, sizeGb: number): Promise<void>;
  /**
   * Returns a volume's data as a disk image. No server uses the volume. Returns undefined if volumes have no data,
   * because no host stores volumes.
   * @param format a disk format of the image service, such as `qcow2`
   */
  read(caller: Caller, id: string, format: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Overwrites a volume with an image. No server uses the volume. */
  reimage(caller: Caller, id: string, imageId: string, sizeGb: number): Promise<void>;
  /** Completes a migration: replaces the data of volume `id` with the data of `newId`, which servers may be using. */
  replace(id: string, newId: string): Promise<void>;
  /** Lists the data of all volumes and snapshots, so that orphaned data can be found. */
  list(): Promise<readonly StoredVolume[]>;
  /** Returns the space of the storage; undefined if volumes have no data, because no host stores volumes. */
  usage(): Promise<StorageUsage | undefined>;
  /** Selects hosts. Omitted by a storage that is on one computer. */
  readonly placement?: VolumePlacement;
}
