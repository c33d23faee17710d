import { expect, it } from 'vitest';
import { freeDiskGb, remainingDiskGb } from './disk-space.js';

const disk = { totalGb: 100, freeGb: 40, leastGb: 10 };

it('is unlimited if the host does not report its file system', () => {
  expect(remainingDiskGb({ localGb: 100, diskAllocationRatio: 1 })).toBe(Number.POSITIVE_INFINITY);
  expect(freeDiskGb({ localGb: 100, diskAllocationRatio: 1 }, 30)).toBe(70);
});

it.each([
  { localGb: 100, ratio: 1, remainingGb: 10, reason: 'the free space that existing disks will not need' },
  { localGb: 60, ratio: 1, remainingGb: 10, reason: 'the same if servers may use only a part of the file system' },
  { localGb: 100, ratio: 2, remainingGb: 110, reason: 'more with an allocation ratio above 1' },
  { localGb: 150, ratio: 1, remainingGb: 60, reason: 'more if the administrator declares more capacity' },
])(
  'is $remainingGb GiB for a capacity of $localGb GiB and the allocation ratio $ratio: $reason',
  ({ localGb, ratio, remainingGb }) => {
    expect(remainingDiskGb({ localGb, diskAllocationRatio: ratio, disk })).toBe(remainingGb);
  },
);

it('limits the free space by both the claims and the file system', () => {
  const node = { localGb: 100, diskAllocationRatio: 1, disk };
  expect([freeDiskGb(node, 30), freeDiskGb(node, 80), freeDiskGb(node, 120)]).toEqual([40, 20, -20]);
});
