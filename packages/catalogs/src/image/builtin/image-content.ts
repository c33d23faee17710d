import { createHash } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageContent } from '../image-catalog.js';
import type { ImageRecord } from './image-tables.js';

/** Size and checksums of content, computed while it is streamed. */
export interface ContentDigest {
  readonly sizeBytes: number;
  /** MD5 in hexadecimal: the `checksum` of image services. */
  readonly checksum: string;
  readonly sha512: string;
}

/** Complete content that does not belong to an image yet. */
export interface ReceivedContent extends ContentDigest {
  /** Attaches the content to an image, in the transaction that activates the image. */
  retain(tx: Tx): Promise<void>;
  /** Deletes the content: the image has other content, or the transaction failed. */
  discard(): Promise<void>;
}

/** Storage of the content of embedded images. */
export interface ImageContents {
  /**
   * Stores all content.
   *
   * @throws `IMAGE_TOO_LARGE`, and `UNAVAILABLE` if the disk is full; no part of the content is then stored
   */
  receive(imageId: string, content: ImageContent): Promise<ReceivedContent>;
  /** Streams the content of an active image, never as a whole in memory. */
  read(image: ImageRecord): AsyncIterable<Uint8Array>;
  /** Removes content in the transaction of a deletion; returns a function to call after the commit. */
  drop(tx: Tx, image: ImageRecord): Promise<() => Promise<void>>;
}

/**
 * Streams content, and computes its size and checksums.
 *
 * @throws `IMAGE_TOO_LARGE` beyond the maximum size
 */
export async function digestContent(
  content: ImageContent,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void | Promise<void>,
): Promise<ContentDigest> {
  const [md5, sha512] = [createHash('md5'), createHash('sha512')];
  let sizeBytes = 0;
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes)
      throw new CatalogError('IMAGE_TOO_LARGE', `The content of an image may have at most ${maxBytes} bytes.`);
    md5.update(chunk);
    sha512.update(chunk);
    await onChunk(chunk);
  }
  return { sizeBytes, checksum: md5.digest('hex'), sha512: sha512.digest('hex') };
}
