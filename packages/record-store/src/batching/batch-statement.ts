import type { Tx } from '../store/database.js';

/**
 * Executes an item of work in a transaction: alone, or in one statement with the same work of the other members of the
 * batch.
 *
 * @param key identifies work that one statement can execute
 */
export function batchStatement<I, O>(
  tx: Tx,
  key: string,
  item: I,
  executeOne: (item: I) => Promise<O>,
  executeMany: (items: readonly I[]) => Promise<readonly O[]>,
): Promise<O> {
  if (!tx.batch) return executeOne(item);
  return tx.batch.gather(key, item, async (items: readonly I[]) => {
    const [only, ...others] = items;
    return others.length === 0 ? [await executeOne(only as I)] : executeMany(items);
  });
}
