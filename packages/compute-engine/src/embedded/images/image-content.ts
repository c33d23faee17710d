import { createHash } from 'node:crypto';
import { CatalogError } from '../../catalogs/catalog-error.js';
import type { ImageContent } from '../../catalogs/image-catalog.js';
import type { Session, Tx } from '../../store/database.js';

const CHUNK_BYTES = 384 * 1024;

/** Content that has arrived whole. */
export interface ReceivedContent {
  readonly bytes: Buffer;
  /** MD5, hex: what image services call the checksum. */
  readonly checksum: string;
  readonly sha512: string;
}

/** Takes in all the content before any of it is stored. Throws `IMAGE_TOO_LARGE` past so many bytes. */
export async function receiveContent(content: ImageContent, maxBytes: number): Promise<ReceivedContent> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const take = (part: Uint8Array) => {
    size += part.byteLength;
    if (size > maxBytes)
      throw new CatalogError('IMAGE_TOO_LARGE', `The content of an image may have ${maxBytes} bytes here, not more.`);
    parts.push(part);
  };
  if (content instanceof Uint8Array) take(content);
  else for await (const part of content) take(part);
  const bytes = Buffer.concat(parts);
  return {
    bytes,
    checksum: createHash('md5').update(bytes).digest('hex'),
    sha512: createHash('sha512').update(bytes).digest('hex'),
  };
}

export async function storeContent(tx: Tx, imageId: string, bytes: Buffer): Promise<void> {
  await dropContent(tx, imageId);
  for (let number = 0; number * CHUNK_BYTES < bytes.byteLength; number++) {
    const base64 = bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES).toString('base64');
    await tx.db.insertInto('image_chunks').values({ image_id: imageId, number, base64 }).execute();
  }
}

export async function dropContent(tx: Tx, imageId: string): Promise<void> {
  await tx.db.deleteFrom('image_chunks').where('image_id', '=', imageId).execute();
}

/** The stored content, chunk by chunk: never all of it in memory. */
export async function* readContent(session: Session, imageId: string): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    const chunk = await session.db
      .selectFrom('image_chunks')
      .select('base64')
      .where('image_id', '=', imageId)
      .where('number', '=', number)
      .executeTakeFirst();
    if (!chunk) return;
    yield Buffer.from(chunk.base64, 'base64');
  }
}
