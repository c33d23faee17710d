import { open, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskSpace } from '@apistrata/compute-engine/drivers';
import { ifMissing } from './if-missing.js';

/** The size of the blocks that `stat` counts. */
const BLOCK_BYTES = 512;
/** The first four bytes of a qcow2 header. The header contains the virtual size of the disk at `SIZE_OFFSET`. */
const QCOW2_MAGIC = 0x5146_49fb;
const HEADER_BYTES = 32;
const SIZE_OFFSET = 24;

/** Returns the total disk space that files occupy. Hard links to one file count once; missing files count as empty. */
export async function readOccupiedBytes(...paths: readonly string[]): Promise<number> {
  const stats = await Promise.all(paths.map((path) => ifMissing(stat(path), undefined)));
  const blocksByInode = new Map(stats.map((file) => [file?.ino, file?.blocks ?? 0]));
  return [...blocksByInode.values()].reduce((sum, blocks) => sum + blocks * BLOCK_BYTES, 0);
}

/** Returns by how many bytes a qcow2 file can grow; 0 for files in other formats. */
async function maxGrowthOf(path: string): Promise<number> {
  const file = await ifMissing(open(path, 'r'), undefined);
  if (!file) return 0;
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    if (bytesRead < HEADER_BYTES || header.readUInt32BE() !== QCOW2_MAGIC) return 0;
    const { blocks } = await file.stat();
    return Math.max(0, Number(header.readBigUInt64BE(SIZE_OFFSET)) - blocks * BLOCK_BYTES);
  } finally {
    await file.close();
  }
}

/** Returns the size and the free space of a folder's file system. */
export async function readFreeSpace(folder: string): Promise<Pick<DiskSpace, 'totalBytes' | 'freeBytes'>> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}

/**
 * Returns the size and the free space of a folder's file system, and how much its qcow2 disks can still grow.
 *
 * @param folders the parent folders of all folders that contain disks: `machines`, `contents`
 */
export async function readDiskSpace(folder: string, folders: readonly string[]): Promise<DiskSpace> {
  const space = await readFreeSpace(folder);
  let promisedBytes = 0;
  for (const parentFolder of folders)
    for (const name of await ifMissing(readdir(parentFolder), []))
      for (const file of await ifMissing(readdir(join(parentFolder, name)), []))
        if (file.endsWith('.qcow2')) promisedBytes += await maxGrowthOf(join(parentFolder, name, file));
  return { ...space, promisedBytes };
}
