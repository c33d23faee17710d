import { createHash } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageContent } from '../image-catalog.js';
import type { ImageRecord } from './image-tables.js';

/** What is known of content once all of it has passed by. */
export interface ContentDigest {
  readonly sizeBytes: number;
  /** MD5, hex: what image services call the checksum. */
  readonly checksum: string;
  readonly sha512: string;
}

/** Content that has arrived whole, and belongs to no image yet. */
export interface ReceivedContent extends ContentDigest {
  /** Makes it an image's, in the transaction that makes the image active. */
  keep(tx: Tx): Promise<void>;
  /** Nobody wants it: another content has become the image's, or the transaction failed. */
  discard(): Promise<void>;
}

/** Where the embedded images have their bytes. */
export interface ImageContents {
  /** Takes in all of it. Throws `IMAGE_TOO_LARGE`, and `UNAVAILABLE` when there is no room; nothing is left of it then. */
  receive(imageId: string, content: ImageContent): Promise<ReceivedContent>;
  /** The content of an active image, chunk by chunk: never all of it in memory. */
  read(image: ImageRecord): AsyncIterable<Uint8Array>;
  /** What belongs to a deletion's transaction; what comes back is to be done once that is committed. */
  drop(tx: Tx, image: ImageRecord): Promise<() => Promise<void>>;
}

/** The pieces of content, given on one after the other and measured on the way. Throws `IMAGE_TOO_LARGE` past so many bytes. */
export async function digestContent(
  content: ImageContent,
  maxBytes: number,
  each: (piece: Uint8Array) => void | Promise<void>,
): Promise<ContentDigest> {
  const [md5, sha512] = [createHash('md5'), createHash('sha512')];
  let sizeBytes = 0;
  for await (const piece of content instanceof Uint8Array ? [content] : content) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > maxBytes)
      throw new CatalogError('IMAGE_TOO_LARGE', `The content of an image may have ${maxBytes} bytes here, not more.`);
    md5.update(piece);
    sha512.update(piece);
    await each(piece);
  }
  return { sizeBytes, checksum: md5.digest('hex'), sha512: sha512.digest('hex') };
}
