import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatingError } from './operating-error.js';

/** Makes what was written outlive a power cut. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a file that is there whole or not at all, for its owner only, and never in the place of another.
 * @param fill writes the draft, which exists and is empty
 */
export async function newFile(file: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new OperatingError(`${file} exists already: name another file`);
  const draft = `${file}.${randomUUID()}`;
  try {
    await (await open(draft, 'wx', 0o600)).close();
    await fill(draft);
    await sync(draft);
    await link(draft, file);
    await sync(dirname(file));
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new OperatingError(`${file} exists already: name another file`);
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EROFS' || code === 'ENOSPC')
      throw new OperatingError(
        `${path ?? file} cannot be written (${code}): name a file in a folder where you may write`,
      );
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
