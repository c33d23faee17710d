import { InvalidQuota } from './errors.js';
import type { Amounts, Limit } from './limits.js';

const MAX_PROJECT_LENGTH = 512;
const MAX_LIMIT = 2n ** 63n - 1n;
const KIND = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;
/** No database takes these as text: NUL, and halves of a surrogate pair. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** @throws TypeError where a kind is not a usable name, one that every object inherits, or named twice */
export function checkKinds(kinds: readonly string[]): readonly string[] {
  for (const kind of kinds) {
    if (!KIND.test(kind)) {
      throw new TypeError(`Kind "${kind}" must be a letter and up to 62 letters, digits, "_", "." or "-"`);
    }
    // Whoever keeps numbers by kind in an object would find something there already.
    if (kind in Object.prototype)
      throw new TypeError(`Kind "${kind}" cannot be: every object has something of that name`);
  }
  if (kinds.length === 0) throw new TypeError('At least one kind is needed');
  if (new Set(kinds).size !== kinds.length) throw new TypeError('A kind is named twice');
  return Object.freeze([...kinds]);
}

/** Project ids are opaque; the only ones refused are those that stores cannot hold. */
export function checkProject(project: string): string {
  if (typeof project !== 'string' || project === '') throw new InvalidQuota('A project id must be a non-empty string');
  if (project.length > MAX_PROJECT_LENGTH) {
    throw new InvalidQuota(`A project id has at most ${MAX_PROJECT_LENGTH} characters`);
  }
  if (UNSTORABLE.test(project)) throw new InvalidQuota('A project id must be well-formed text without NUL');
  return project;
}

/** The amounts above 0, in an object of their own. */
export function checkAmounts(amounts: Amounts, kinds: ReadonlySet<string>): Amounts {
  if (amounts === null || typeof amounts !== 'object') throw new InvalidQuota('Amounts must be an object by kind');
  const checked: Record<string, number> = {};
  for (const kind of Object.keys(amounts)) {
    const amount = amounts[kind];
    checkKind(kind, kinds);
    if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) {
      throw new InvalidQuota(`The amount of ${kind} must be a whole number of at least 0`);
    }
    if (amount > 0) checked[kind] = amount;
  }
  return checked;
}

export function checkKind(kind: string, kinds: ReadonlySet<string>): string {
  if (!kinds.has(kind)) throw new InvalidQuota(`There is no kind "${kind}"; kinds are ${[...kinds].join(', ')}`);
  return kind;
}

export function checkCount(count: number): number {
  if (!Number.isSafeInteger(count) || count < 0) throw new InvalidQuota('A count must be a whole number of at least 0');
  return count;
}

/** A limit in its one form: a number where that is exact, a bigint beyond. */
export function checkLimit(kind: string, value: Limit): Limit {
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!whole || value < -1 || value > MAX_LIMIT) {
    throw new InvalidQuota(`The limit of ${kind} must be a whole number from -1 to 2^63-1, or null for the default`);
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) + 0 : value;
}
