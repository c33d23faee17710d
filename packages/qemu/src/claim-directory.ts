import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QemuError } from './qemu-error.js';

/**
 * Reserves a directory for one host. A second host in this directory would treat the first host's machines as orphaned.
 *
 * @throws QemuError `DIRECTORY_UNUSABLE` if another host has reserved the directory
 */
export async function claimDirectory(directory: string, host: string): Promise<void> {
  const claimFile = join(directory, 'host');
  try {
    await writeFile(claimFile, `${host}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const claimingHost = (await readFile(claimFile, 'utf8')).trim();
    if (claimingHost !== host)
      throw new QemuError(
        'DIRECTORY_UNUSABLE',
        `the directory ${directory} contains the machines of the host ${claimingHost}: give ${host} its own directory, or remove ${claimFile} if that host was renamed`,
      );
  }
}
