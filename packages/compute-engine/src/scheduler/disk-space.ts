import type { Node } from '../model/index.js';

type Disks = Pick<Node, 'localGb' | 'diskAllocationRatio' | 'disk'>;

/**
 * Returns the disk space in GiB that servers have not claimed, or the free space of the host's file system, whichever
 * is less.
 */
export function freeDiskGb({ localGb, disk }: Disks, usedGb: number): number {
  return Math.min(localGb - usedGb, disk?.freeGb ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns the disk space in GiB that a host can still promise to servers: the free space of its file system, minus the
 * space that existing disks may still need. Capacity beyond the file system is added if an administrator has declared
 * it, or has allowed it with the allocation ratio.
 */
export function remainingDiskGb({ localGb, diskAllocationRatio, disk }: Disks): number {
  if (!disk) return Number.POSITIVE_INFINITY;
  return disk.leastGb + Math.max(0, Math.floor(localGb * diskAllocationRatio) - disk.totalGb);
}
