import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSqliteFile } from '@apistrata/record-store';
import { syncToDisk } from './new-file.js';

/** Matches the names of complete files; incomplete files have other names. */
const COMPLETE_FILE_NAME = /^[0-9a-f-]{36}-[0-9a-f]{32}$/;

/** Returns the directory that contains image content; undefined if the database contains all image content. */
export function imageDirectoryOf(database: string, given: string | undefined): string | undefined {
  return given ?? (isSqliteFile(database) ? `${database}.images` : undefined);
}

/**
 * Copies image content files that are missing from the other directory. Files are named after their content and never
 * change, so existing ones are valid, and an interrupted copy can be continued.
 *
 * @returns the number of files in the other directory afterwards
 */
export async function copyImageFiles(from: string | undefined, to: string): Promise<number> {
  if (from === undefined || !existsSync(from)) return 0;
  const names = (await readdir(from)).filter((name) => COMPLETE_FILE_NAME.test(name));
  if (names.length === 0) return 0;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of names.filter((fileName) => !existsSync(join(to, fileName)))) {
    const draft = join(to, `${name}.${randomUUID()}.part`);
    try {
      await copyFile(join(from, name), draft, constants.COPYFILE_FICLONE);
      await syncToDisk(draft);
      await rename(draft, join(to, name));
    } catch (error) {
      // The image has been deleted in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
  await syncToDisk(to);
  return (await readdir(to)).filter((name) => COMPLETE_FILE_NAME.test(name)).length;
}
