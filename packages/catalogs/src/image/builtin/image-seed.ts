import type { Image } from '../image-catalog.js';

/** An image that exists from the start. Default: `active`, and empty without `content`. */
export interface ImageSeed extends Partial<Omit<Image, 'id' | 'projectId' | 'createdAt' | 'updatedAt'>> {
  readonly id: string;
  readonly projectId?: string;
  /** Its content; size and checksums are computed from it. */
  readonly content?: Uint8Array | (() => AsyncIterable<Uint8Array>);
  /**
   * The ID prefix of previous versions of this image. Those that are not hidden become hidden, and this image becomes visible
   * again if it was one of them. Default: it replaces none.
   */
  readonly replacesIdPrefix?: string;
}
