import { HealthcheckConfigError } from './config-error.js';
import { refuseUnknown } from './known-names.js';

/** `degraded` still counts as available: the endpoint answers 200 and shows the reason. */
export type CheckState = 'available' | 'degraded' | 'unavailable';

/** What a check found. */
export interface CheckResult {
  readonly state: CheckState;
  /** Shown to every client, one line. Left out: `OK`, `DEGRADED` or `UNAVAILABLE`. */
  readonly reason?: string;
  /** Shown only where the endpoint is `detailed`. */
  readonly details?: string;
}

/** How often a check runs and how long it may take. */
export interface CheckTiming {
  /** After this many milliseconds the check counts as unavailable and its signal is aborted. Default 5000. */
  readonly timeoutMs?: number;
  /** A result answers probes for this many milliseconds before the check runs again. Default 0: runs at each probe. */
  readonly cacheMs?: number;
  /** Runs the check in the background, this many milliseconds after its last run ended; probes read the last result. */
  readonly refreshMs?: number;
}

/** A check of your own. Any number of probes at the same time share one run of it. */
export interface Check extends CheckTiming {
  /** What `backends` and groups call it; shown where the check throws or is late. */
  readonly name: string;
  /** Throwing, rejecting, being late or returning anything else than a `CheckResult` counts as unavailable. */
  readonly check: (signal: AbortSignal) => CheckResult | Promise<CheckResult>;
}

/** What one check contributes to an answer. */
export interface CheckReport {
  readonly name: string;
  readonly state: CheckState;
  /** False only for `unavailable`. */
  readonly available: boolean;
  /** One line, never empty. */
  readonly reason: string;
  /** May be empty. */
  readonly details: string;
  /** How long the run took that found this, in milliseconds. */
  readonly durationMs: number;
  /** When the state last changed; the time of the first run until then. */
  readonly changedAt: Date;
}

/** What one run found, before it is known how long it took and what the run before had found. */
export type Finding = Omit<CheckReport, 'durationMs' | 'changedAt'>;

const DEFAULT_REASONS: Readonly<Record<CheckState, string>> = {
  available: 'OK',
  degraded: 'DEGRADED',
  unavailable: 'UNAVAILABLE',
};

/** The state of several checks together; without any, there is nothing wrong. */
export function worstOf(reports: readonly { readonly state: CheckState }[]): CheckState {
  const states = new Set(reports.map(({ state }) => state));
  return (['unavailable', 'degraded'] as const).find((state) => states.has(state)) ?? 'available';
}

/** The keys of `CheckTiming`. */
export const TIMING_KEYS = ['timeoutMs', 'cacheMs', 'refreshMs'] as const;

/** Returns the finding for what a check returned; throws if that is not a `CheckResult`. */
export function findingOf(name: string, result: CheckResult): Finding {
  const { state, reason, details } = result ?? {};
  if (!Object.hasOwn(DEFAULT_REASONS, state)) {
    throw new TypeError(`The check must return { state }, one of ${Object.keys(DEFAULT_REASONS).join(', ')}`);
  }
  return {
    name,
    state,
    available: state !== 'unavailable',
    // The plain body has a line per reason, so a reason may not have two.
    reason: String(reason || DEFAULT_REASONS[state]).replaceAll(/[\r\n]+/g, ' '),
    details: String(details ?? ''),
  };
}

/** Returns the finding for a check that failed or timed out. */
export function failureOf(name: string, what: string, details: string): Finding {
  return { name, state: 'unavailable', available: false, reason: `${what}: ${name}`, details };
}

/** Throws unless this is a check that can run. */
export function validateCheck(check: Check, option: string): void {
  if (typeof check !== 'object' || check === null || typeof check.check !== 'function' || !check.name) {
    throw new HealthcheckConfigError(
      option,
      'has an entry that is no check',
      'Give a name, or an object { name, check(signal) } whose check returns { state, reason?, details? }',
    );
  }
  refuseUnknown(`the check "${check.name}"`, check, ['name', 'check', ...TIMING_KEYS]);
  validateTiming(check, check.name);
}

function validateTiming(timing: CheckTiming, name: string): void {
  for (const key of TIMING_KEYS) {
    const value = timing[key];
    const smallest = key === 'cacheMs' ? 0 : 1;
    // Node runs a timer above 2^31-1 at once, which would turn "hardly ever" into "all the time".
    if (value === undefined || (Number.isFinite(value) && value >= smallest && value < 2 ** 31)) continue;
    throw new HealthcheckConfigError(key, `${value} in the check "${name}"`, `Give milliseconds from ${smallest} on`);
  }
}
