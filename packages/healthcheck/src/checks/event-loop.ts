import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Check } from '../check.js';
import { type LimitOptions, limitResult, timingOf, validateLimits } from './limit-options.js';

/** The minimum duration of an event loop measurement. A shorter measurement would mainly reflect the probe itself. */
const MIN_MEASUREMENT_MS = 1_000;

/** Options for `eventLoopDelay()`. */
export interface EventLoopDelayOptions extends LimitOptions {
  /**
   * The maximum 99th percentile of the event loop delay since the previous run of the check, in milliseconds. Default
   * 500.
   */
  readonly maxMs?: number;
}

/**
 * Creates a check that fails if callbacks wait too long for the event loop. The measurement starts when the check is
 * created.
 */
export function eventLoopDelay(options: EventLoopDelayOptions = {}): Check {
  validateLimits('eventLoopDelay', options, ['maxMs']);
  const { name = 'event_loop_delay', maxMs = 500 } = options;
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return {
    name,
    ...timingOf(options, MIN_MEASUREMENT_MS),
    check() {
      // Node measures delays in nanoseconds, and returns NaN or 0 before the first sample.
      const delayMs = (histogram.count > 0 ? histogram.percentile(99) : 0) / 1e6;
      histogram.reset();
      const details = `The event loop delay is ${delayMs.toFixed(1)} ms at the 99th percentile, limit ${maxMs} ms`;
      return limitResult(delayMs <= maxMs, 'EVENT LOOP DELAYED', details, options);
    },
  };
}

/** Options for `eventLoopUtilization()`. */
export interface EventLoopUtilizationOptions extends LimitOptions {
  /**
   * The maximum fraction of time, 0 to 1, that the event loop may have been busy since the previous run of the check.
   * Default 0.98.
   */
  readonly max?: number;
}

/**
 * Creates a check that fails if the event loop is almost never idle. The measurement starts when the check is created.
 * During the first second, the check is available, because every process is busy while it starts.
 */
export function eventLoopUtilization(options: EventLoopUtilizationOptions = {}): Check {
  validateLimits('eventLoopUtilization', options, ['max']);
  const { name = 'event_loop_utilization', max = 0.98 } = options;
  const evaluationStartsAt = performance.now() + MIN_MEASUREMENT_MS;
  let previousUtilization = performance.eventLoopUtilization();
  return {
    name,
    ...timingOf(options, MIN_MEASUREMENT_MS),
    check() {
      if (performance.now() < evaluationStartsAt) {
        return {
          state: 'available',
          details: `The first measurement of the event loop takes ${MIN_MEASUREMENT_MS} ms`,
        };
      }
      const currentUtilization = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(currentUtilization, previousUtilization);
      previousUtilization = currentUtilization;
      const details = `The event loop is busy ${formatPercent(utilization)} of the time, limit ${formatPercent(max)}`;
      return limitResult(utilization <= max, 'EVENT LOOP BUSY', details, options);
    },
  };
}

function formatPercent(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}
