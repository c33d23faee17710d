import { open, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskSpace } from '@apistrata/compute-engine/drivers';
import { ifMissing } from './if-missing.js';

/** The unit of `blocks` in `stat`. */
const BLOCK_BYTES = 512;
/** The header of a qcow2 file: four bytes of magic number; at byte 24, the virtual size. */
const MAGIC = 0x5146_49fb;
const HEADER_BYTES = 32;
const SIZE_AT = 24;

/** Returns the space that files occupy; missing files occupy none. */
export async function occupiedBytes(...paths: readonly string[]): Promise<number> {
  const found = await Promise.all(paths.map((path) => ifMissing(stat(path), undefined)));
  return found.reduce((sum, file) => sum + (file?.blocks ?? 0) * BLOCK_BYTES, 0);
}

/** Returns the additional space that a disk can occupy; 0 for files in other formats. */
async function growthOf(path: string): Promise<number> {
  const file = await ifMissing(open(path, 'r'), undefined);
  if (!file) return 0;
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    if (bytesRead < HEADER_BYTES || header.readUInt32BE() !== MAGIC) return 0;
    const { blocks } = await file.stat();
    return Math.max(0, Number(header.readBigUInt64BE(SIZE_AT)) - blocks * BLOCK_BYTES);
  } finally {
    await file.close();
  }
}

/**
 * Returns the space of the file system of a folder.
 *
 * @param folders the folders that contain folders with disks: `machines`, `contents`
 */
export async function diskSpace(folder: string, folders: readonly string[]): Promise<DiskSpace> {
  const { blocks, bavail, bsize } = await statfs(folder);
  let promisedBytes = 0;
  for (const parent of folders)
    for (const name of await ifMissing(readdir(parent), []))
      for (const file of await ifMissing(readdir(join(parent, name)), []))
        if (file.endsWith('.qcow2')) promisedBytes += await growthOf(join(parent, name, file));
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize, promisedBytes };
}
