import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from './qemu-error.js';

/**
 * Reserves a directory for one host. A second host there would treat the first one's machines as orphaned.
 *
 * @throws QemuError `DIRECTORY_UNUSABLE` if another host has reserved the directory
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
        `the directory ${directory} contains the machines of the host ${owner}: give ${host} its own directory, or remove ${file} if that host was renamed`,
      );
  }
}
