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
 * Returns the disk space in GiB that can still be allocated to servers: the free space of the file system, minus the
 * space into which existing disks may still grow, plus the amount by which `localGb` times the allocation ratio exceeds
 * the size of the file system.
 */
export function remainingDiskGb({ localGb, diskAllocationRatio, disk }: Disks): number {
  if (!disk) return Number.POSITIVE_INFINITY;
  return disk.leastGb + Math.max(0, Math.floor(localGb * diskAllocationRatio) - disk.totalGb);
}
