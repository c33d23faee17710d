import type { Tx } from '../store/database.js';
import type { Store } from '../store/store.js';

const codes = new Set<unknown>(['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 2067, 1555]);

function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return codes.has(code) || codes.has(errcode);
}

/** How many inserts of others one transaction may run into, one after the other. */
const ATTEMPTS = 6;

/**
 * A transaction that looks first and inserts then. When somebody else inserts the same in between, it runs once more
 * and finds it.
 */
export async function lookThenInsert<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction(work);
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === ATTEMPTS) throw error;
    }
  }
}
