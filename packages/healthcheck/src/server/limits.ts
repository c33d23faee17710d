import { HealthcheckConfigError } from '../config-error.js';
import { refuseUnknown } from '../known-names.js';

/** What clients may cost a server. Counts, milliseconds and bytes. */
export interface GuardLimits {
  /** Connections at once; further ones are closed when they come. Default 10,000. */
  readonly maxConnections?: number;
  /**
   * Requests that may wait on one connection behind the one that is answered. A connection is read no further while any
   * waits, so this many can only come in one piece; more of them close the connection. Default 100.
   */
  readonly maxPipelined?: number;
  /** Bytes of answers that clients have not read, in all: above, those that wait longest are closed. Default 128 MiB. */
  readonly maxUnreadBytes?: number;
  /** How long a client may leave an answer unread before its connection is closed. Default 30,000. */
  readonly unreadMs?: number;
  /** How long a connection without requests is kept: longer than the balancers in front keep theirs. Default 75,000. */
  readonly keepAliveMs?: number;
  /** How long the head of a request may take. Default 15,000. */
  readonly headersMs?: number;
  /** How long a request may take to arrive, its body included. Default 60,000. */
  readonly requestMs?: number;
}

/** The limits where nothing else is said. Sizes in bytes, times in milliseconds. */
export const defaultLimits: Required<GuardLimits> = {
  maxConnections: 10_000,
  maxPipelined: 100,
  maxUnreadBytes: 128 * 1024 * 1024,
  unreadMs: 30_000,
  keepAliveMs: 75_000,
  headersMs: 15_000,
  requestMs: 60_000,
};

/**
 * Fills in the defaults.
 *
 * @throws HealthcheckConfigError for unknown names and for what is no whole number in its bounds
 */
export function guardLimits(given: GuardLimits): Required<GuardLimits> {
  const limits = wholeNumbers('guardServer()', given, defaultLimits);
  if (limits.headersMs > limits.requestMs) {
    const problem = `${limits.headersMs} is more than requestMs, ${limits.requestMs}`;
    throw new HealthcheckConfigError('headersMs', problem, 'A request takes at least as long as its head');
  }
  return limits;
}

/** Options that are all whole numbers, with their defaults; `least` is 1 but for those listed in `mayBeZero`. */
export function wholeNumbers<Options extends object>(
  place: string,
  given: Options,
  defaults: Required<Options>,
  mayBeZero: readonly string[] = [],
): Required<Options> {
  refuseUnknown(place, given, Object.keys(defaults));
  for (const [name, value] of Object.entries(given)) {
    const least = mayBeZero.includes(name) ? 0 : 1;
    // Node runs a timer above 2^31-1 at once.
    const most = name.endsWith('Ms') ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new HealthcheckConfigError(name, `${value} in ${place}`, `Give a whole number from ${least} to ${most}`);
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
