import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MaintenanceError } from './maintenance-error.js';

/** Flushes a file or directory to disk, so that it survives a power failure. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates a file atomically, readable only by its owner, without overwriting an existing one.
 * @param fill writes the content to the draft, a file that exists and is empty
 */
export async function createFile(file: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) throw new MaintenanceError(`${file} already exists: choose another file`);
  const draft = `${file}.${randomUUID()}`;
  try {
    await (await open(draft, 'wx', 0o600)).close();
    await fill(draft);
    await syncToDisk(draft);
    await link(draft, file);
    await syncToDisk(dirname(file));
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new MaintenanceError(`${file} already exists: choose another file`);
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EROFS' || code === 'ENOSPC')
      throw new MaintenanceError(`${path ?? file} cannot be written (${code}): choose a file in a writable folder`);
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
