import { randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSqliteFile } from '@apistrata/record-store';
import { sync } from './new-file.js';

/** Content that has arrived whole; what is still on its way has another name. */
const WHOLE = /^[0-9a-f-]{36}-[0-9a-f]{32}$/;

/** Where the content of images is that is not in the database itself; undefined when all of it is. */
export function imageDirectoryOf(database: string, given: string | undefined): string | undefined {
  return given ?? (isSqliteFile(database) ? `${database}.images` : undefined);
}

/**
 * Copies what a folder of image content has and the other has not. Files are named after their content and never change,
 * so what is there already is right, and a copy that was interrupted goes on where it was.
 *
 * @returns how many files the other folder has then
 */
export async function copyImageFiles(from: string | undefined, to: string): Promise<number> {
  if (from === undefined || !existsSync(from)) return 0;
  const names = (await readdir(from)).filter((name) => WHOLE.test(name));
  if (names.length === 0) return 0;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of names.filter((one) => !existsSync(join(to, one)))) {
    const draft = join(to, `${name}.${randomUUID()}.part`);
    try {
      await copyFile(join(from, name), draft, constants.COPYFILE_FICLONE);
      await sync(draft);
      await rename(draft, join(to, name));
    } catch (error) {
      // Its image has been deleted meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
  await sync(to);
  return (await readdir(to)).filter((name) => WHOLE.test(name)).length;
}
