import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Check } from '../check.js';
import { type LimitOptions, limited, timingOf, validateLimits } from './limit-options.js';

/** A shorter window would measure the moment of the probe rather than the service. */
const WINDOW_MS = 1_000;

/** Options of `eventLoopDelay()`. */
export interface EventLoopDelayOptions extends LimitOptions {
  /** The maximum delay at the 99th percentile since the last run of the check, in milliseconds. Default 500. */
  readonly maxMs?: number;
}

/** Fails if callbacks wait too long for the event loop. Measuring starts when the check is created. */
export function eventLoopDelay(options: EventLoopDelayOptions = {}): Check {
  validateLimits('eventLoopDelay', options, ['maxMs']);
  const { name = 'event_loop_delay', maxMs = 500 } = options;
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return {
    name,
    ...timingOf(options, WINDOW_MS),
    check() {
      // The platform measures in nanoseconds, and returns NaN or 0 before the first sample.
      const delayMs = (histogram.count > 0 ? histogram.percentile(99) : 0) / 1e6;
      histogram.reset();
      const details = `The event loop is ${delayMs.toFixed(1)} ms late at the 99th percentile, limit ${maxMs} ms`;
      return limited(delayMs <= maxMs, 'EVENT LOOP DELAYED', details, options);
    },
  };
}

/** Options of `eventLoopUtilization()`. */
export interface EventLoopUtilizationOptions extends LimitOptions {
  /**
   * The maximum fraction of the time since the last run of the check in which the loop was busy, 0 to 1. Default 0.98.
   */
  readonly max?: number;
}

/**
 * Fails if the event loop is almost never idle. Measuring starts when the check is created. It is available during the
 * first full second, because every process is busy at its start.
 */
export function eventLoopUtilization(options: EventLoopUtilizationOptions = {}): Check {
  validateLimits('eventLoopUtilization', options, ['max']);
  const { name = 'event_loop_utilization', max = 0.98 } = options;
  const firstVerdictAt = performance.now() + WINDOW_MS;
  let last = performance.eventLoopUtilization();
  return {
    name,
    ...timingOf(options, WINDOW_MS),
    check() {
      if (performance.now() < firstVerdictAt) {
        return { state: 'available', details: `The event loop is measured for ${WINDOW_MS} ms first` };
      }
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      const details = `The event loop is busy ${percent(utilization)} of the time, limit ${percent(max)}`;
      return limited(utilization <= max, 'EVENT LOOP BUSY', details, options);
    },
  };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
