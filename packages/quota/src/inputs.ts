import { InvalidQuota } from './errors.js';
import type { Amounts, Limit } from './limits.js';

const MAX_PROJECT_LENGTH = 512;
const MAX_LIMIT = 2n ** 63n - 1n;
const KIND_PATTERN = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;
/** Matches characters that databases reject in text: NUL and unpaired surrogates. */
const UNSTORABLE_CHARACTERS = /[\0\p{Surrogate}]/u;

/**
 * Validates resource kinds.
 *
 * @throws TypeError if a kind is malformed, a duplicate, or the name of an `Object.prototype` property
 */
export function checkKinds(kinds: readonly string[]): readonly string[] {
  for (const kind of kinds) {
    if (!KIND_PATTERN.test(kind)) {
      throw new TypeError(`Kind "${kind}" must consist of a letter and up to 62 letters, digits, "_", "." or "-"`);
    }
    // A lookup of a kind such as `constructor` in a plain object would return the inherited property instead of a
    // number.
    if (kind in Object.prototype)
      throw new TypeError(`Kind "${kind}" is reserved: every object has a property with that name`);
  }
  if (kinds.length === 0)
    throw new TypeError('At least one kind is required: kinds: ["invoices"] or defaults: { invoices: 500 }');
  if (new Set(kinds).size !== kinds.length) throw new TypeError('Kinds must be unique');
  return Object.freeze([...kinds]);
}

/** Validates a project id. Ids are opaque; only ids that a store cannot represent are rejected. */
export function checkProject(project: string): string {
  if (typeof project !== 'string' || project === '') throw new InvalidQuota('A project id must be a non-empty string');
  if (project.length > MAX_PROJECT_LENGTH) {
    throw new InvalidQuota(`A project id must have at most ${MAX_PROJECT_LENGTH} characters`);
  }
  if (UNSTORABLE_CHARACTERS.test(project)) throw new InvalidQuota('A project id must be well-formed text without NUL');
  return project;
}

/** Validates amounts by resource kind. Returns a new object that contains only amounts above 0. */
export function checkAmounts(amounts: Amounts, kinds: ReadonlySet<string>): Amounts {
  if (amounts === null || typeof amounts !== 'object')
    throw new InvalidQuota('Amounts must be an object that maps kinds to amounts');
  const checkedAmounts: Record<string, number> = {};
  for (const kind of Object.keys(amounts)) {
    const amount = amounts[kind];
    checkKind(kind, kinds);
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) {
      throw new InvalidQuota(`The amount of ${kind} must be an integer of at least 0`);
    }
    if (amount > 0) checkedAmounts[kind] = amount;
  }
  return checkedAmounts;
}

export function checkKind(kind: string, kinds: ReadonlySet<string>): string {
  if (!kinds.has(kind)) throw new InvalidQuota(`Unknown kind "${kind}"; kinds are ${[...kinds].join(', ')}`);
  return kind;
}

export function checkCount(count: number): number {
  if (!Number.isSafeInteger(count) || count < 0) throw new InvalidQuota('A count must be an integer of at least 0');
  return count;
}

/** Validates a limit. Returns it as a number if that is exact, otherwise as a bigint. */
export function checkLimit(kind: string, value: Limit): Limit {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!isInteger || value < -1 || value > MAX_LIMIT) {
    throw new InvalidQuota(`The limit of ${kind} must be an integer from -1 to 2^63-1, or null for the default`);
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) + 0 : value;
}
