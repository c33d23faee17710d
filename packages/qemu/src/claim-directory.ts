import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from './qemu-error.js';

/**
 * Keeps a directory for one host: another one that began there would take the machines in it for leftovers of its own.
 * @throws QemuError `DIRECTORY_UNUSABLE` where it is another host's
 */
export async function claimDirectory(directory: string, host: string): Promise<void> {
  const file = join(directory, 'host');
  try {
    await writeFile(file, `${host}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = (await readFile(file, 'utf8')).trim();
    if (owner !== host)
      throw new QemuError(
        'DIRECTORY_UNUSABLE',
        `the directory ${directory} holds the machines of the host ${owner}: give ${host} one of its own, or remove ${file} where that host has got another name`,
      );
  }
}
