import { HealthcheckConfigError } from './errors.js';
import { rejectUnknown } from './known-names.js';

/** The state of a check. `degraded` counts as available: the endpoint responds with 200 and shows the reason. */
export type CheckState = 'available' | 'degraded' | 'unavailable';

/** The result of a check. */
export interface CheckResult {
  readonly state: CheckState;
  /** One line that every client can see. Default `OK`, `DEGRADED` or `UNAVAILABLE`. */
  readonly reason?: string;
  /** Shown only if the endpoint is `detailed`. */
  readonly details?: string;
}

/** The timeout of a check, and the times between its runs. */
export interface CheckTiming {
  /** The time in milliseconds after which the check counts as unavailable and its signal is aborted. Default 5000. */
  readonly timeoutMs?: number;
  /** The time in milliseconds for which a result is reused. Default 0: the check runs at each probe. */
  readonly cacheMs?: number;
  /**
   * The time in milliseconds between runs in the background; probes then read the latest result. Default: the check runs only
   * at probes.
   */
  readonly refreshMs?: number;
}

/** A custom check. Concurrent probes share one run of it. */
export interface Check extends CheckTiming {
  /** The name in `backends` and groups. It is part of the reason if the check throws or times out. */
  readonly name: string;
  /** Runs the check. It counts as unavailable if it throws, rejects, times out or does not return a `CheckResult`. */
  readonly check: (signal: AbortSignal) => CheckResult | Promise<CheckResult>;
}

/** The result of one check in a response. */
export interface CheckReport {
  readonly name: string;
  readonly state: CheckState;
  /** False only for `unavailable`. */
  readonly available: boolean;
  /** The reason in one line, never empty. */
  readonly reason: string;
  /** Details of the reason; may be empty. */
  readonly details: string;
  /** The duration of the run in milliseconds. */
  readonly durationMs: number;
  /** The time at which the state last changed, initially that of the first run. */
  readonly changedAt: Date;
}

/** The result of one run, without its duration and the time of the last change. */
export type Finding = Omit<CheckReport, 'durationMs' | 'changedAt'>;

const DEFAULT_REASONS: Readonly<Record<CheckState, string>> = {
  available: 'OK',
  degraded: 'DEGRADED',
  unavailable: 'UNAVAILABLE',
};

/** Returns the worst state of several checks, or `available` if there are none. */
export function worstOf(reports: readonly { readonly state: CheckState }[]): CheckState {
  const states = new Set(reports.map(({ state }) => state));
  return (['unavailable', 'degraded'] as const).find((state) => states.has(state)) ?? 'available';
}

/** The keys of `CheckTiming`. */
export const TIMING_KEYS = ['timeoutMs', 'cacheMs', 'refreshMs'] as const;

/** Returns the finding of a result. @throws TypeError if it is not a `CheckResult` */
export function findingOf(name: string, result: CheckResult): Finding {
  const { state, reason, details } = result ?? {};
  if (!Object.hasOwn(DEFAULT_REASONS, state)) {
    throw new TypeError(`The check must return { state }, one of ${Object.keys(DEFAULT_REASONS).join(', ')}`);
  }
  return {
    name,
    state,
    available: state !== 'unavailable',
    // The plain body has one line per reason, so a reason must not contain line breaks.
    reason: String(reason || DEFAULT_REASONS[state]).replaceAll(/[\r\n]+/g, ' '),
    details: String(details ?? ''),
  };
}

/** Returns the finding for a check that failed or timed out. */
export function failureOf(name: string, failure: string, details: string): Finding {
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
  rejectUnknown(`the check "${check.name}"`, check, ['name', 'check', ...TIMING_KEYS]);
  validateTiming(check, check.name);
}

function validateTiming(timing: CheckTiming, name: string): void {
  for (const key of TIMING_KEYS) {
    const value = timing[key];
    const minimum = key === 'cacheMs' ? 0 : 1;
    // Node fires a timer above 2^31-1 immediately, so that a check would run continuously instead of almost never.
    if (value === undefined || (Number.isFinite(value) && value >= minimum && value < 2 ** 31)) continue;
    throw new HealthcheckConfigError(key, `${value} in the check "${name}"`, `Use at least ${minimum} milliseconds`);
  }
}
