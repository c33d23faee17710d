import { statfs } from 'node:fs/promises';
import type { Check } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { type LimitOptions, limitResult, timingOf, validateLimits } from './limit-options.js';

/** Options for `diskSpace()`. At least one of the two limits is required. */
export interface DiskSpaceOptions extends LimitOptions {
  /** The minimum free space that is available to this process, in bytes. */
  readonly minFreeBytes?: number;
  /** The minimum free space that is available to this process, as a fraction of the file system, 0 to 1. */
  readonly minFreeRatio?: number;
}

/** Creates a check that fails if the file system of `path` has too little free space. */
export function diskSpace(path: string, options: DiskSpaceOptions): Check {
  validateLimits('diskSpace', options, ['minFreeBytes', 'minFreeRatio']);
  const { name = `disk_space:${path}`, minFreeBytes = 0, minFreeRatio = 0 } = options;
  if (minFreeBytes === 0 && minFreeRatio === 0) {
    throw new HealthcheckConfigError('minFreeBytes', 'missing in diskSpace()', 'Set minFreeBytes or minFreeRatio');
  }
  return {
    name,
    ...timingOf(options),
    async check() {
      const { bavail, blocks, bsize } = await statfs(path);
      const freeBytes = bavail * bsize;
      const requiredBytes = Math.ceil(Math.max(minFreeBytes, minFreeRatio * blocks * bsize));
      const details = `${freeBytes} bytes are free at ${path}; ${requiredBytes} are required`;
      return limitResult(freeBytes >= requiredBytes, 'DISK FULL', details, options);
    },
  };
}
