import type { Tx } from '../store/database.js';
import type { Store } from '../store/store.js';

const UNIQUE_VIOLATION_CODES = new Set<unknown>([
  '23505',
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067,
  1555,
]);

function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return UNIQUE_VIOLATION_CODES.has(code) || UNIQUE_VIOLATION_CODES.has(errcode);
}

/** The maximum number of attempts for one transaction. */
const MAX_ATTEMPTS = 6;

/**
 * Runs a transaction that inserts a record unless it exists. If a concurrent transaction inserts the same record in the
 * meantime, this transaction runs again and finds the record.
 */
export async function retryOnUniqueViolation<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction(work);
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
