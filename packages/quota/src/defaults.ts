import { InvalidQuota } from './errors.js';
import { checkLimit } from './inputs.js';
import { type Limit, UNLIMITED } from './limits.js';

/** The kinds of the project-quota API. */
export const KINDS = ['secrets', 'orders', 'containers', 'consumers', 'cas'] as const;

/**
 * Reads default limits from a configuration: `quota_secrets`, `quota_orders`, ... one per kind. Numbers may come as
 * text, as they do from the environment or an ini file. What is left out, or empty, is -1: unlimited.
 *
 * @throws InvalidQuota for a value that is no whole number from -1 on, and for `quota_` keys that name no kind
 */
export function defaultsFrom(
  configuration: Readonly<Record<string, unknown>>,
  kinds: readonly string[] = KINDS,
): Readonly<Record<string, Limit>> {
  const stray = Object.keys(configuration).find((key) => key.startsWith('quota_') && !kinds.includes(key.slice(6)));
  if (stray) throw new InvalidQuota(`${stray} names no kind; kinds are ${kinds.join(', ')}`);
  return Object.fromEntries(kinds.map((kind) => [kind, defaultOf(kind, configuration[`quota_${kind}`])]));
}

function defaultOf(kind: string, value: unknown): Limit {
  if (value === undefined || value === null || value === '') return UNLIMITED;
  if (typeof value === 'number' || typeof value === 'bigint') return checkLimit(kind, value);
  if (typeof value === 'string' && /^\s*[-+]?\d{1,19}\s*$/.test(value)) {
    return checkLimit(kind, BigInt(value.trim().replace(/^\+/, '')));
  }
  throw new InvalidQuota(`quota_${kind} must be a whole number from -1 on`);
}
