import type { Store, Tx } from '@apistrata/record-store';
import { digestContent, type ImageContents } from './image-content.js';

const CHUNK_BYTES = 384 * 1024;
const MAX_CONTENT_BYTES = 256 * 2 ** 20;

async function drop(tx: Tx, imageId: string): Promise<void> {
  await tx.db.deleteFrom('image_chunks').where('image_id', '=', imageId).execute();
}

/**
 * Stores image data in database rows, for in-memory databases and for processes that share only a database. An upload
 * is buffered in memory until the upload is complete.
 *
 * @param maxBytes the maximum size of an image, in bytes; default: 256 MiB
 */
export function contentInDatabase(store: Store, maxBytes = MAX_CONTENT_BYTES): ImageContents {
  return {
    async receive(imageId, content) {
      const chunks: Uint8Array[] = [];
      const digest = await digestContent(content, maxBytes, (chunk) => {
        chunks.push(chunk);
      });
      return {
        ...digest,
        async retain(tx) {
          const bytes = Buffer.concat(chunks);
          await drop(tx, imageId);
          for (let number = 0; number * CHUNK_BYTES < bytes.byteLength; number++) {
            const base64 = bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES).toString('base64');
            await tx.db.insertInto('image_chunks').values({ image_id: imageId, number, base64 }).execute();
          }
        },
        discard: async () => {},
      };
    },
    async *read({ id }) {
      for (let number = 0; ; number++) {
        const chunk = await store.db
          .selectFrom('image_chunks')
          .select('base64')
          .where('image_id', '=', id)
          .where('number', '=', number)
          .executeTakeFirst();
        if (!chunk) return;
        yield Buffer.from(chunk.base64, 'base64');
      }
    },
    async drop(tx, { id }) {
      await drop(tx, id);
      return async () => {};
    },
  };
}
