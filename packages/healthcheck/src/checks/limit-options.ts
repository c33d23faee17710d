import { type CheckResult, type CheckState, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { rejectUnknownKeys } from '../known-names.js';

/** Options for all checks that compare a measurement with a limit. */
export interface LimitOptions extends CheckTiming {
  /** The name by which `backends` and `groups` refer to the check. */
  readonly name?: string;
  /**
   * The state beyond the limit: `unavailable` (default), or `degraded`, for which the endpoint still responds
   * with 200.
   */
  readonly stateBeyondLimit?: Exclude<CheckState, 'available'>;
}

const LIMIT_KEYS = ['name', 'stateBeyondLimit', ...TIMING_KEYS] as const;

/**
 * Validates the options of a built-in check.
 *
 * @throws HealthcheckConfigError for unknown keys, and for limits that are not positive
 */
export function validateLimits(factory: string, options: object, limits: readonly string[]): void {
  rejectUnknownKeys(`${factory}()`, options, [...limits, ...LIMIT_KEYS]);
  for (const [key, value] of Object.entries(options)) {
    if (!limits.includes(key) || value === undefined || (Number.isFinite(value) && value > 0)) continue;
    throw new HealthcheckConfigError(key, `${value} in ${factory}()`, 'Use a positive number');
  }
}

/** Returns the result of a check that compares a measurement with a limit. */
export function limitResult(withinLimit: boolean, reason: string, details: string, options: LimitOptions): CheckResult {
  return withinLimit
    ? { state: 'available', details }
    : { state: options.stateBeyondLimit ?? 'unavailable', reason, details };
}

/** Returns the timing options of a check. @param cacheMs the default of the option `cacheMs` */
export function timingOf(options: CheckTiming, cacheMs = 0): CheckTiming {
  return { timeoutMs: options.timeoutMs, cacheMs: options.cacheMs ?? cacheMs, refreshMs: options.refreshMs };
}
