import type { Caller } from '../caller/caller.js';

/** What a volume, or the snapshot of one, begins with: nothing, an image, or what another one holds at that moment. */
export type VolumeOrigin =
  | { readonly kind: 'blank' }
  | { readonly kind: 'image'; readonly imageId: string }
  | { readonly kind: 'copy'; readonly id: string };

/** Something that is kept, and since when. */
export interface StoredVolume {
  /** UUID of the volume or snapshot. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

/**
 * Where the content of embedded volumes and of their snapshots is: a driver that has real disks brings it, and the embedded
 * volume service tells it what becomes of volumes. Sizes in GiB. Everything may come twice, after a crash, and does nothing
 * when its effect is there already. What fails is told to whoever asked as `UNAVAILABLE`, and then the volume stays as it was.
 */
export interface VolumeStorage {
  /**
   * Keeps the content of a new volume or snapshot; it is there whole once this resolves.
   * @param taken called, where that is earlier, as soon as the copy is one of a moment that has passed: what it is made of may change again
   */
  create(
    caller: Caller,
    volume: { readonly id: string; readonly sizeGb: number; readonly origin: VolumeOrigin },
    taken?: () => void,
  ): Promise<void>;
  /** Forgets the content of a volume or snapshot that is gone. */
  remove(id: string): Promise<void>;
  /** Grows a volume, also while servers use it; these are told by the work `extend_volume`. */
  extend(id: string, sizeGb: number): Promise<void>;
  /** Writes an image over a volume that no server uses. */
  reimage(caller: Caller, id: string, imageId: string, sizeGb: number): Promise<void>;
  /** A migration has ended: the content of `newId`, which servers may use, is that of `id` from here on. */
  replace(id: string, newId: string): Promise<void>;
  /** All that is kept, to find what nobody knows any more. */
  list(): Promise<readonly StoredVolume[]>;
}
