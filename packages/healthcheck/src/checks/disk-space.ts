import { statfs } from 'node:fs/promises';
import type { Check } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { type LimitOptions, limited, timingOf, validateLimits } from './limit-options.js';

/** Options of `diskSpace()`: at least one of the two limits. */
export interface DiskSpaceOptions extends LimitOptions {
  /** Bytes that must be available to this process. */
  readonly minFreeBytes?: number;
  /** The fraction of the file system that must be available to this process, 0 to 1. */
  readonly minFreeRatio?: number;
}

/** Fails if the file system of `path` has too little free space. */
export function diskSpace(path: string, options: DiskSpaceOptions): Check {
  validateLimits('diskSpace', options, ['minFreeBytes', 'minFreeRatio']);
  const { name = `disk_space:${path}`, minFreeBytes = 0, minFreeRatio = 0 } = options;
  if (minFreeBytes === 0 && minFreeRatio === 0) {
    throw new HealthcheckConfigError('minFreeBytes', 'missing in diskSpace()', 'Give minFreeBytes or minFreeRatio');
  }
  return {
    name,
    ...timingOf(options),
    async check() {
      const { bavail, blocks, bsize } = await statfs(path);
      const free = bavail * bsize;
      const needed = Math.ceil(Math.max(minFreeBytes, minFreeRatio * blocks * bsize));
      const details = `${free} bytes are free at ${path}, ${needed} are needed`;
      return limited(free >= needed, 'DISK FULL', details, options);
    },
  };
}
