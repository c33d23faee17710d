import { type Check, type CheckTiming, TIMING_KEYS } from '../check.js';
import { HealthcheckConfigError } from '../errors.js';
import { rejectUnknownKeys } from '../known-names.js';
import { timingOf } from './limit-options.js';

/** Options for `ping()`. */
export interface PingOptions extends CheckTiming {
  /** The name by which `backends` and `groups` refer to the check. */
  readonly name: string;
}

/**
 * Creates a check that fails if a client library, such as a database client, cannot reach its server.
 *
 * @param send sends a small request; the check fails if it throws, rejects or times out
 *
 * @example
 * ```ts
 * import { healthcheck, ping } from '@apistrata/healthcheck';
 *
 * declare const pool: { query(sql: string): Promise<unknown> };
 * healthcheck({ backends: [ping(() => pool.query('select 1'), { name: 'postgres', timeoutMs: 1_000 })] });
 * ```
 */
export function ping(send: (signal: AbortSignal) => unknown, options: PingOptions): Check {
  rejectUnknownKeys('ping()', options ?? {}, ['name', ...TIMING_KEYS]);
  if (typeof send !== 'function' || !options?.name) {
    throw new HealthcheckConfigError('name', 'missing in ping()', 'Write ping(() => client.ping(), { name: "redis" })');
  }
  const { name } = options;
  return {
    name,
    ...timingOf(options),
    async check(signal) {
      try {
        await send(signal);
        return { state: 'available', details: `${name} responds` };
      } catch (error) {
        const details = `${name}: ${error instanceof Error ? error.message || error.name : String(error)}`;
        return { state: 'unavailable', reason: 'UNREACHABLE', details };
      }
    },
  };
}
