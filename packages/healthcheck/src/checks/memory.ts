import { getHeapStatistics } from 'node:v8';
import { byteCount } from '../byte-count.js';
import type { Check } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { type LimitOptions, limited, timingOf, validateLimits } from './limit-options.js';

/** Options of `heap()`. */
export interface HeapOptions extends LimitOptions {
  /** The maximum of the used heap as a fraction of its limit, 0 to 1. Default 0.95. */
  readonly maxRatio?: number;
}

/** Fails if the JavaScript heap is nearly full. */
export function heap(options: HeapOptions = {}): Check {
  validateLimits('heap', options, ['maxRatio']);
  const { name = 'heap', maxRatio = 0.95 } = options;
  return {
    name,
    ...timingOf(options),
    check() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      const details = `${byteCount(used)} of ${byteCount(limit)} of heap are used, limit ${(maxRatio * 100).toFixed(1)} %`;
      return limited(used / limit <= maxRatio, 'HEAP FULL', details, options);
    },
  };
}

/** Options of `rss()`. */
export interface RssOptions extends LimitOptions {
  /** The maximum resident memory of the process in bytes. Without default, because it depends on the environment. */
  readonly maxBytes: number;
}

/** Fails if the process uses more memory than allowed. */
export function rss(options: RssOptions): Check {
  validateLimits('rss', options, ['maxBytes']);
  const { name = 'rss', maxBytes } = options;
  if (maxBytes === undefined) {
    throw new HealthcheckConfigError('maxBytes', 'missing in rss()', 'Give a limit in bytes');
  }
  return {
    name,
    ...timingOf(options),
    check() {
      const used = process.memoryUsage.rss();
      return limited(
        used <= maxBytes,
        'RSS TOO HIGH',
        `${byteCount(used)} are resident, limit ${byteCount(maxBytes)}`,
        options,
      );
    },
  };
}
