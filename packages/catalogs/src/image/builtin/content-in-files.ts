import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError } from '../../errors/catalog-error.js';
import { digestContent, type ImageContents } from './image-content.js';
import type { ImageRecord } from './image-tables.js';

/** An upload without data for this long belongs to a process that has died. */
const UNFINISHED_MS = 3_600_000;

/** Removes incomplete uploads of processes that have died. */
async function removeStaleDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part')) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - UNFINISHED_MS) await rm(path, { force: true });
  }
}

/** File system errors for insufficient space or permissions. */
const STORAGE_ERRORS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'ENOTDIR', 'EIO']);

function toUnavailable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!STORAGE_ERRORS.has(code ?? '')) return error;
  return new CatalogError('UNAVAILABLE', `The content of the image cannot be stored: ${message}`, { cause: error });
}

/**
 * Stores content in files of a folder and streams it, without a size limit other than the disk. A file's name contains
 * the image and a digest of the content, so that concurrent uploads have separate files; the image's record names the
 * valid one.
 *
 * @param fallback reads content that was stored before the folder was configured
 */
export function contentInFiles(folder: string, fallback: ImageContents, maxBytes = Infinity): ImageContents {
  const pathOf = (id: string, sha512: string) => join(folder, `${id}-${sha512.slice(0, 32)}`);
  const fileOf = ({ id, sha512 }: ImageRecord) => {
    const path = sha512 === null ? undefined : pathOf(id, sha512);
    return path !== undefined && existsSync(path) ? path : undefined;
  };

  let cleanup: Promise<void> | undefined;

  /** Removes stale drafts once. After a failure, the next upload retries; no upload is rejected because of it. */
  async function removeStaleDraftsOnce(): Promise<void> {
    cleanup ??= removeStaleDrafts(folder);
    try {
      await cleanup;
    } catch {
      cleanup = undefined;
    }
  }

  return {
    async receive(imageId, content) {
      const draft = join(folder, `${imageId}.${randomUUID()}.part`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await removeStaleDraftsOnce();
        const file = await open(draft, 'wx', 0o600);
        try {
          const digest = await digestContent(content, maxBytes, async (chunk) => {
            await file.writeFile(chunk);
          });
          await file.sync();
          const path = pathOf(imageId, digest.sha512);
          await rename(draft, path);
          return { ...digest, retain: async () => {}, discard: () => rm(path, { force: true }) };
        } finally {
          await file.close();
        }
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        throw toUnavailable(error);
      }
    },
    read(image) {
      const path = fileOf(image);
      return path === undefined ? fallback.read(image) : createReadStream(path, { highWaterMark: 2 ** 20 });
    },
    async drop(tx, image) {
      const path = fileOf(image);
      const dropFallback = await fallback.drop(tx, image);
      return async () => {
        await dropFallback();
        if (path !== undefined) await rm(path, { force: true });
      };
    },
  };
}
