import type { Image } from '../image-catalog.js';

/** An image that is there from the start: `active` unless it says otherwise, empty without `content`. */
export interface ImageSeed extends Partial<Omit<Image, 'id' | 'projectId' | 'createdAt' | 'updatedAt'>> {
  readonly id: string;
  readonly projectId?: string;
  /** Its bytes; size and checksums follow from them. */
  readonly content?: Uint8Array | (() => AsyncIterable<Uint8Array>);
}
