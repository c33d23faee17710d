import { statfs } from 'node:fs/promises';
import { availableParallelism, networkInterfaces, totalmem } from 'node:os';

/** What a computer has. Memory in MiB, disk in GiB. */
export interface MachineResources {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** What this computer has. @param directory on the disk that machines are kept on */
export async function machineResources(directory: string): Promise<MachineResources> {
  const { blocks, bsize } = await statfs(directory);
  return {
    vcpus: availableParallelism(),
    memoryMb: Math.floor(totalmem() / MIB),
    diskGb: Math.floor((blocks * bsize) / GIB),
  };
}

/** The first address of this computer that others can reach; 127.0.0.1 where it has none. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
