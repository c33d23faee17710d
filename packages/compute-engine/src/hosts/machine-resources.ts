import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';

/** Capacity of a computer. Memory is in MiB, disk in GiB. */
export interface HostResources {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
}

const BYTES_PER_MIB = 2 ** 20;
const BYTES_PER_GIB = 2 ** 30;

/**
 * Detects the capacity of this computer.
 *
 * @param directory a directory on the disk that contains the machines
 */
export async function detectResources(directory: string): Promise<HostResources> {
  const { blocks, bsize } = await statfs(directory);
  return {
    vcpus: availableParallelism(),
    memoryMb: Math.floor(totalmem() / BYTES_PER_MIB),
    diskGb: Math.floor((blocks * bsize) / BYTES_PER_GIB),
  };
}
