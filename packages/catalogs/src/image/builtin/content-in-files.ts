import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError } from '../../errors/catalog-error.js';
import { digestContent, type ImageContents } from './image-content.js';
import type { ImageRecord } from './image-tables.js';

/** How long an upload may send nothing; then the process that received it has died. */
const UNFINISHED_MS = 3_600_000;

/** Removes uploads that a process which died has left half done. */
async function sweepDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.part')) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - UNFINISHED_MS) await rm(path, { force: true });
  }
}

/** Errors of a file system that has no room, or no right to write. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'ENOTDIR', 'EIO']);

function unavailable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!NO_ROOM.has(code ?? '')) return error;
  return new CatalogError('UNAVAILABLE', `The content of the image cannot be kept: ${message}`, { cause: error });
}

/**
 * Content as files of a folder, streamed in and out: as much as the disk holds. A file is named after the image and what is
 * in it, so that of two uploads at once each has a file of its own, and the image's record says whose it is.
 *
 * @param before where content is that was stored before there was this folder
 */
export function contentInFiles(folder: string, before: ImageContents, maxBytes = Infinity): ImageContents {
  const pathOf = (id: string, sha512: string) => join(folder, `${id}-${sha512.slice(0, 32)}`);
  const fileOf = ({ id, sha512 }: ImageRecord) => {
    const path = sha512 === null ? undefined : pathOf(id, sha512);
    return path !== undefined && existsSync(path) ? path : undefined;
  };

  let swept: Promise<void> | undefined;

  /** Once; where that fails, the next upload tries again, and no upload is refused for it. */
  async function sweepOnce(): Promise<void> {
    swept ??= sweepDrafts(folder);
    try {
      await swept;
    } catch {
      swept = undefined;
    }
  }

  return {
    async receive(imageId, content) {
      const draft = join(folder, `${imageId}.${randomUUID()}.part`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await sweepOnce();
        const file = await open(draft, 'wx', 0o600);
        try {
          const digest = await digestContent(content, maxBytes, async (piece) => {
            await file.writeFile(piece);
          });
          await file.sync();
          const path = pathOf(imageId, digest.sha512);
          await rename(draft, path);
          return { ...digest, keep: async () => {}, discard: () => rm(path, { force: true }) };
        } finally {
          await file.close();
        }
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        throw unavailable(error);
      }
    },
    read(image) {
      const path = fileOf(image);
      return path === undefined ? before.read(image) : createReadStream(path, { highWaterMark: 2 ** 20 });
    },
    async drop(tx, image) {
      const path = fileOf(image);
      const dropBefore = await before.drop(tx, image);
      return async () => {
        await dropBefore();
        if (path !== undefined) await rm(path, { force: true });
      };
    },
  };
}
