import type { Tx } from '../store/database.js';
import type { Store } from '../store/store.js';

const codes = new Set<unknown>(['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', 2067, 1555]);

function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return codes.has(code) || codes.has(errcode);
}

/**
 * A transaction that looks first and inserts then. When somebody else inserts the same in between, it runs once more
 * and finds it.
 */
export async function lookThenInsert<T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await store.transaction(work);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return store.transaction(work);
  }
}
