import { HealthcheckConfigError } from '../errors.js';
import { rejectUnknownKeys } from '../known-names.js';

/** Limits for the clients of a server. Times are in milliseconds, sizes in bytes. */
export interface GuardLimits {
  /** Maximum number of connections; additional ones are closed immediately. Default 10,000. */
  readonly maxConnections?: number;
  /**
   * Maximum number of pipelined requests that wait on one connection; a connection that exceeds it is closed. The
   * server does not read from a connection while requests wait, so all of them have arrived in one chunk. Default 100.
   */
  readonly maxPipelined?: number;
  /**
   * Maximum size of all unread responses; above it, the connections with the oldest unread responses are closed.
   * Default 128 MiB.
   */
  readonly maxUnreadBytes?: number;
  /** How long a client may leave a response unread before its connection is closed. Default 30,000. */
  readonly unreadMs?: number;
  /** How long a connection without requests is kept open. It should be longer than the idle timeout of load balancers. Default 75,000. */
  readonly keepAliveMs?: number;
  /** Maximum time until the headers of a request are complete. Default 15,000. */
  readonly headersMs?: number;
  /** Maximum time until a request, including its body, is complete. Default 60,000. */
  readonly requestMs?: number;
}

/** The default limits. Sizes are in bytes, times in milliseconds. */
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
 * Validates connection limits and adds defaults.
 *
 * @throws HealthcheckConfigError for unknown names and values that are not integers within their range
 */
export function guardLimits(options: GuardLimits): Required<GuardLimits> {
  const limits = validateIntegers('guardServer()', options, defaultLimits);
  if (limits.headersMs > limits.requestMs) {
    const problem = `${limits.headersMs} is greater than requestMs (${limits.requestMs})`;
    throw new HealthcheckConfigError('headersMs', problem, 'Set headersMs to at most requestMs');
  }
  return limits;
}

/** Validates options that are integers, and adds defaults. The minimum is 1 or, for options that may be zero, 0. */
export function validateIntegers<Options extends object>(
  place: string,
  options: Options,
  defaults: Required<Options>,
  optionsAllowingZero: readonly string[] = [],
): Required<Options> {
  rejectUnknownKeys(place, options, Object.keys(defaults));
  for (const [name, value] of Object.entries(options)) {
    const min = optionsAllowingZero.includes(name) ? 0 : 1;
    // Node fires timers above 2^31-1 ms immediately.
    const max = name.endsWith('Ms') ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) continue;
    throw new HealthcheckConfigError(name, `${value} in ${place}`, `Use an integer from ${min} to ${max}`);
  }
  const definedEntries = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(definedEntries) };
}
