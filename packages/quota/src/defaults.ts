import { InvalidQuota } from './errors.js';
import { checkLimit } from './inputs.js';
import { type Limit, UNLIMITED } from './limits.js';
import { KEY_MANAGER_KINDS } from './presets.js';

/**
 * Reads default limits from a configuration that has one key per resource kind: `quota_secrets`, `quota_orders`, ... Values are
 * numbers or decimal strings, as in environment variables and ini files. A missing or empty value means -1 (unlimited).
 *
 * @throws InvalidQuota for a value that is not an integer of at least -1, and for a `quota_` key of an unknown kind
 */
export function defaultsFrom(
  configuration: Readonly<Record<string, unknown>>,
  kinds: readonly string[] = KEY_MANAGER_KINDS,
): Readonly<Record<string, Limit>> {
  const unknownKey = Object.keys(configuration).find(
    (key) => key.startsWith('quota_') && !kinds.includes(key.slice(6)),
  );
  if (unknownKey) throw new InvalidQuota(`${unknownKey} does not name a kind; the kinds are ${kinds.join(', ')}`);
  return Object.fromEntries(kinds.map((kind) => [kind, defaultOf(kind, configuration[`quota_${kind}`])]));
}

function defaultOf(kind: string, value: unknown): Limit {
  if (value === undefined || value === null || value === '') return UNLIMITED;
  if (typeof value === 'number' || typeof value === 'bigint') return checkLimit(kind, value);
  if (typeof value === 'string' && /^\s*[-+]?\d{1,19}\s*$/.test(value)) {
    return checkLimit(kind, BigInt(value.trim().replace(/^\+/, '')));
  }
  throw new InvalidQuota(`quota_${kind} must be an integer of at least -1`);
}
