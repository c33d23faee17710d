import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';

/** Capacity of a computer. Memory is in MiB, disk in GiB. */
export interface HostResources {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/**
 * Detects the capacity of this computer.
 *
 * @param directory a directory on the disk that contains the machines
 */
export async function machineResources(directory: string): Promise<HostResources> {
  const { blocks, bsize } = await statfs(directory);
  return {
    vcpus: availableParallelism(),
    memoryMb: Math.floor(totalmem() / MIB),
    diskGb: Math.floor((blocks * bsize) / GIB),
  };
}
