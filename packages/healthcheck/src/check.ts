import { HealthcheckConfigError } from './errors.js';
import { rejectUnknownKeys } from './known-names.js';

/** The state of a check. `degraded` counts as available: the endpoint responds with 200 and shows the reason. */
export type CheckState = 'available' | 'degraded' | 'unavailable';

/** The result that a check returns. */
export interface CheckResult {
  readonly state: CheckState;
  /** The reason for the state, in one line that every client can see. Default `OK`, `DEGRADED` or `UNAVAILABLE`. */
  readonly reason?: string;
  /** Details about the reason, which responses contain only if the endpoint is `detailed`. */
  readonly details?: string;
}

/** When a check runs: its timeout, the lifetime of its cached result, and the interval between its background runs. */
export interface CheckTiming {
  /** The time in milliseconds after which the check counts as unavailable and its signal is aborted. Default 5000. */
  readonly timeoutMs?: number;
  /** How long a result is reused, in milliseconds. Default 0: the check runs at each probe. */
  readonly cacheMs?: number;
  /**
   * The interval between background runs in milliseconds; probes then return the latest result. Default: the check runs
   * only when a probe arrives.
   */
  readonly refreshMs?: number;
}

/** A custom check. Concurrent probes share one run. */
export interface Check extends CheckTiming {
  /**
   * The name by which `backends` and `groups` refer to the check. It is part of the reason if the check throws or times
   * out.
   */
  readonly name: string;
  /**
   * Runs the check. The check counts as unavailable if this function throws, rejects, times out or does not return a
   * `CheckResult`.
   */
  readonly check: (signal: AbortSignal) => CheckResult | Promise<CheckResult>;
}

/** The result of one check, as it appears in responses. */
export interface CheckReport {
  readonly name: string;
  readonly state: CheckState;
  /** Whether the state is `available` or `degraded`. */
  readonly available: boolean;
  /** The reason for the state, in one line; never empty. */
  readonly reason: string;
  /** Details about the reason; may be empty. */
  readonly details: string;
  /** How long the check ran, in milliseconds. */
  readonly durationMs: number;
  /** When the state last changed. Before the first change, the time of the first run. */
  readonly changedAt: Date;
}

/** The result of one check run, before its duration and the time of the last state change are added. */
export type Finding = Omit<CheckReport, 'durationMs' | 'changedAt'>;

const DEFAULT_REASONS: Readonly<Record<CheckState, string>> = {
  available: 'OK',
  degraded: 'DEGRADED',
  unavailable: 'UNAVAILABLE',
};

/** Returns the worst state of several checks, or `available` if there are none. */
export function worstState(reports: readonly { readonly state: CheckState }[]): CheckState {
  const states = new Set(reports.map(({ state }) => state));
  return (['unavailable', 'degraded'] as const).find((state) => states.has(state)) ?? 'available';
}

/** The names of the `CheckTiming` options. */
export const TIMING_KEYS = ['timeoutMs', 'cacheMs', 'refreshMs'] as const;

/** Converts the result of a check to a finding. @throws TypeError if the result is not a `CheckResult` */
export function findingOf(name: string, result: CheckResult): Finding {
  const { state, reason, details } = result ?? {};
  if (!Object.hasOwn(DEFAULT_REASONS, state)) {
    throw new TypeError(`The check must return { state }, one of ${Object.keys(DEFAULT_REASONS).join(', ')}`);
  }
  return {
    name,
    state,
    available: state !== 'unavailable',
    // Plain-text responses have one line per reason, so a reason must not contain line breaks.
    reason: String(reason || DEFAULT_REASONS[state]).replaceAll(/[\r\n]+/g, ' '),
    details: String(details ?? ''),
  };
}

/** Returns the finding for a check that failed or timed out. */
export function failureFinding(name: string, failure: string, details: string): Finding {
  return { name, state: 'unavailable', available: false, reason: `${failure}: ${name}`, details };
}

/** Validates a check. @throws HealthcheckConfigError if it is invalid */
export function validateCheck(check: Check, option: string): void {
  if (typeof check !== 'object' || check === null || typeof check.check !== 'function' || !check.name) {
    throw new HealthcheckConfigError(
      option,
      'has an entry that is not a check',
      'Use a name, or an object { name, check(signal) } whose check returns { state, reason?, details? }',
    );
  }
  rejectUnknownKeys(`the check "${check.name}"`, check, ['name', 'check', ...TIMING_KEYS]);
  validateTiming(check, check.name);
}

function validateTiming(timing: CheckTiming, name: string): void {
  for (const key of TIMING_KEYS) {
    const value = timing[key];
    const minimum = key === 'cacheMs' ? 0 : 1;
    // Node fires timers above 2^31-1 ms immediately, so a check with such an interval would run continuously.
    if (value === undefined || (Number.isFinite(value) && value >= minimum && value < 2 ** 31)) continue;
    throw new HealthcheckConfigError(key, `${value} in the check "${name}"`, `Use at least ${minimum} milliseconds`);
  }
}
