import { createHash } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageContent } from '../image-catalog.js';
import type { ImageRecord } from './image-tables.js';

/** The size and the checksums of image data, computed while the data is streamed. */
export interface ContentDigest {
  readonly sizeBytes: number;
  /** The hexadecimal MD5 digest, which Glance calls `checksum`. */
  readonly checksum: string;
  readonly sha512: string;
}

/** Image data that is completely stored, but not attached to an image yet. */
export interface ReceivedContent extends ContentDigest {
  /** Attaches the data to its image, in the transaction that activates the image. */
  retain(tx: Tx): Promise<void>;
  /** Deletes the data. Called if the image already has other data, or if the transaction failed. */
  discard(): Promise<void>;
}

/** Stores the data of the built-in image service. */
export interface ImageContents {
  /**
   * Stores all data of an upload.
   *
   * @throws `IMAGE_TOO_LARGE`, or `UNAVAILABLE` if the disk is full. In both cases, no part of the data remains stored.
   */
  receive(imageId: string, content: ImageContent): Promise<ReceivedContent>;
  /** Streams an active image's data without loading all the data into memory. */
  read(image: ImageRecord): AsyncIterable<Uint8Array>;
  /** Removes an image's data in the transaction that deletes the image. Returns a function to call after the commit. */
  drop(tx: Tx, image: ImageRecord): Promise<() => Promise<void>>;
}

/**
 * Passes image data to `onChunk`, chunk by chunk, and computes the size and the checksums.
 *
 * @throws `IMAGE_TOO_LARGE` if the data exceeds the maximum size
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
      throw new CatalogError('IMAGE_TOO_LARGE', `Image data must not exceed ${maxBytes} bytes.`);
    md5.update(chunk);
    sha512.update(chunk);
    await onChunk(chunk);
  }
  return { sizeBytes, checksum: md5.digest('hex'), sha512: sha512.digest('hex') };
}
