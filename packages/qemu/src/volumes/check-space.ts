import { readFreeSpace } from '../machine/disk-space.js';
import { QemuError } from '../qemu-error.js';

const GIB = 2 ** 30;

/**
 * Checks that enough bytes are free.
 *
 * @param place where the space is, for the error message, such as `on this host`
 * @throws QemuError `DISK_FULL` if fewer bytes are free than needed
 */
export function requireFreeBytes(bytes: number, freeBytes: number, place: string): void {
  if (bytes > freeBytes)
    throw new QemuError(
      'DISK_FULL',
      `${Math.ceil(bytes / GIB)} GiB is needed, but only ${Math.floor(freeBytes / GIB)} GiB is free ${place}`,
    );
}

/** Checks the free space of a folder's file system. @throws QemuError `DISK_FULL` if fewer bytes are free */
export async function checkSpace(folder: string, bytes: number): Promise<void> {
  requireFreeBytes(bytes, (await readFreeSpace(folder)).freeBytes, 'on this host');
}
