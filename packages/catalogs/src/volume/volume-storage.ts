import type { Caller } from '../caller/caller.js';

/** The initial content of a volume or snapshot: blank, an image, or a copy of another one. */
export type VolumeOrigin =
  | { readonly kind: 'blank' }
  | { readonly kind: 'image'; readonly imageId: string }
  | { readonly kind: 'copy'; readonly id: string };

/** Stored content, and its creation time. */
export interface StoredVolume {
  /** UUID of the volume or snapshot. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

/**
 * Storage of the content of embedded volumes and their snapshots. A driver with real disks provides it, and the
 * embedded volume service calls it. Sizes are in GiB. All operations are idempotent, because they may be repeated after
 * a crash. Failures are reported to the caller as `UNAVAILABLE`, and the volume does not change.
 */
export interface VolumeStorage {
  /**
   * Stores the content of a new volume or snapshot; resolves when it is complete.
   * @param onCaptured called as soon as the content of the copy is fixed, if that is before it is complete: the source may
   * change again
   */
  create(
    caller: Caller,
    volume: { readonly id: string; readonly sizeGb: number; readonly origin: VolumeOrigin },
    onCaptured?: () => void,
  ): Promise<void>;
  /** Removes the content of a deleted volume or snapshot. */
  remove(id: string): Promise<void>;
  /** Extends a volume, even while servers use it; the job `extend_volume` notifies these servers. */
  extend(id: string, sizeGb: number): Promise<void>;
  /** Writes an image to a volume that no server uses. */
  reimage(caller: Caller, id: string, imageId: string, sizeGb: number): Promise<void>;
  /** Ends a migration: the content of `newId`, which servers may use, becomes the content of `id`. */
  replace(id: string, newId: string): Promise<void>;
  /** Lists all stored content, to find orphaned content. */
  list(): Promise<readonly StoredVolume[]>;
}
