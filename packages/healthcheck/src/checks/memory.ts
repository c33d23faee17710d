import { getHeapStatistics } from 'node:v8';
import type { Check } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { formatBytes } from '../format-bytes.js';
import { type LimitOptions, limitResult, timingOf, validateLimits } from './limit-options.js';

/** Options for `heap()`. */
export interface HeapOptions extends LimitOptions {
  /** The maximum used heap size, as a fraction of the heap size limit, 0 to 1. Default 0.95. */
  readonly maxRatio?: number;
}

/** Creates a check that fails if the JavaScript heap is nearly full. */
export function heap(options: HeapOptions = {}): Check {
  validateLimits('heap', options, ['maxRatio']);
  const { name = 'heap', maxRatio = 0.95 } = options;
  return {
    name,
    ...timingOf(options),
    check() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      const details = `The heap uses ${formatBytes(used)} of ${formatBytes(limit)}, limit ${(maxRatio * 100).toFixed(1)} %`;
      return limitResult(used / limit <= maxRatio, 'HEAP FULL', details, options);
    },
  };
}

/** Options for `rss()`. */
export interface RssOptions extends LimitOptions {
  /** The maximum resident memory of the process in bytes. Required, because the value depends on the environment. */
  readonly maxBytes: number;
}

/** Creates a check that fails if the resident memory of the process exceeds a limit. */
export function rss(options: RssOptions): Check {
  validateLimits('rss', options, ['maxBytes']);
  const { name = 'rss', maxBytes } = options;
  if (maxBytes === undefined) {
    throw new HealthcheckConfigError('maxBytes', 'missing in rss()', 'Set a limit in bytes');
  }
  return {
    name,
    ...timingOf(options),
    check() {
      const used = process.memoryUsage.rss();
      return limitResult(
        used <= maxBytes,
        'RSS TOO HIGH',
        `${formatBytes(used)} are resident, limit ${formatBytes(maxBytes)}`,
        options,
      );
    },
  };
}
