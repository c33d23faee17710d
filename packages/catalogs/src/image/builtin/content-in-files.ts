import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError } from '../../errors/catalog-error.js';
import { digestContent, type ImageContents } from './image-content.js';
import type { ImageRecord } from './image-tables.js';

/** The time without new data after which the process of an unfinished upload is presumed to have died. */
const STALE_UPLOAD_AGE_MS = 3_600_000;

/** Removes unfinished uploads of processes that have died. */
async function removeStaleUploads(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part')) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - STALE_UPLOAD_AGE_MS) await rm(path, { force: true });
  }
}

/** File system error codes for insufficient space, insufficient permissions and I/O failures. */
const STORAGE_ERROR_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'ENOTDIR', 'EIO']);

function toUnavailableError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!STORAGE_ERROR_CODES.has(code ?? '')) return error;
  return new CatalogError('UNAVAILABLE', `The image data cannot be stored: ${message}`, { cause: error });
}

/**
 * Stores image data in files in a directory, and streams the data. The size of an image is limited only by the disk. A
 * file name contains the image's id and a digest of the data, so that concurrent uploads use separate files. The
 * image's record contains the digest of the valid file.
 *
 * @param fallback the storage that contains images uploaded before the directory was configured
 */
export function contentInFiles(folder: string, fallback: ImageContents, maxBytes = Infinity): ImageContents {
  const pathOf = (id: string, sha512: string) => join(folder, `${id}-${sha512.slice(0, 32)}`);
  const existingPathOf = ({ id, sha512 }: ImageRecord) => {
    const path = sha512 === null ? undefined : pathOf(id, sha512);
    return path !== undefined && existsSync(path) ? path : undefined;
  };

  let cleanup: Promise<void> | undefined;

  /** Removes stale uploads once per process. A failure is ignored, and the next upload tries again. */
  async function removeStaleUploadsOnce(): Promise<void> {
    cleanup ??= removeStaleUploads(folder);
    try {
      await cleanup;
    } catch {
      cleanup = undefined;
    }
  }

  return {
    async receive(imageId, content) {
      const uploadPath = join(folder, `${imageId}.${randomUUID()}.part`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await removeStaleUploadsOnce();
        const file = await open(uploadPath, 'wx', 0o600);
        try {
          const digest = await digestContent(content, maxBytes, async (chunk) => {
            await file.writeFile(chunk);
          });
          await file.sync();
          const path = pathOf(imageId, digest.sha512);
          await rename(uploadPath, path);
          return { ...digest, retain: async () => {}, discard: () => rm(path, { force: true }) };
        } finally {
          await file.close();
        }
      } catch (error) {
        await rm(uploadPath, { force: true }).catch(() => {});
        throw toUnavailableError(error);
      }
    },
    read(image) {
      const path = existingPathOf(image);
      return path === undefined ? fallback.read(image) : createReadStream(path, { highWaterMark: 2 ** 20 });
    },
    async drop(tx, image) {
      const path = existingPathOf(image);
      const dropFallback = await fallback.drop(tx, image);
      return async () => {
        await dropFallback();
        if (path !== undefined) await rm(path, { force: true });
      };
    },
  };
}
