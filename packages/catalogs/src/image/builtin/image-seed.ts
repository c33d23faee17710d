import type { Image } from '../image-catalog.js';

/** A preset image. By default, the image is `active`. Without `content`, the image has no data. */
export interface ImageSeed extends Partial<Omit<Image, 'id' | 'projectId' | 'createdAt' | 'updatedAt'>> {
  readonly id: string;
  readonly projectId?: string;
  /** The image data, which determines the size and the checksums. */
  readonly content?: Uint8Array | (() => AsyncIterable<Uint8Array>);
  /**
   * The id prefix that this image shares with its previous versions. Previous versions become hidden, and this image
   * becomes visible if it was hidden. Default: the image does not replace other images.
   */
  readonly replacesIdPrefix?: string;
}
