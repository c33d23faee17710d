import { type CheckResult, type CheckState, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../config-error.js';
import { refuseUnknown } from '../known-names.js';

/** Options of every check that compares a measurement with a limit. */
export interface LimitOptions extends CheckTiming {
  /** What `backends` and groups call the check. */
  readonly name?: string;
  /** The state beyond the limit: `unavailable` (default), or `degraded`, which is shown but keeps the 200. */
  readonly beyond?: Exclude<CheckState, 'available'>;
}

const LIMIT_KEYS = ['name', 'beyond', ...TIMING_KEYS] as const;

/** Throws for unknown keys and for limits that are no positive numbers. */
export function validateLimits(factory: string, options: object, limits: readonly string[]): void {
  refuseUnknown(`${factory}()`, options, [...limits, ...LIMIT_KEYS]);
  for (const [key, value] of Object.entries(options)) {
    if (!limits.includes(key) || value === undefined || (Number.isFinite(value) && value > 0)) continue;
    throw new HealthcheckConfigError(key, `${value} in ${factory}()`, 'Give a positive number');
  }
}

/** Turns a measurement into the result of the check. */
export function limited(withinLimit: boolean, reason: string, details: string, options: LimitOptions): CheckResult {
  return withinLimit ? { state: 'available', details } : { state: options.beyond ?? 'unavailable', reason, details };
}

/** The timing of a check, with a default for how long a result answers probes. */
export function timingOf(options: CheckTiming, cacheMs = 0): CheckTiming {
  return { timeoutMs: options.timeoutMs, cacheMs: options.cacheMs ?? cacheMs, refreshMs: options.refreshMs };
}
