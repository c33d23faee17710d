import type { Tx } from '../store/database.js';

/**
 * Executes a statement for one item. In a shared transaction, one statement processes all items that concurrent callers
 * pass with the same key.
 *
 * @param key identifies the items that one statement can process
 */
export function batchStatement<I, O>(
  tx: Tx,
  key: string,
  item: I,
  executeOne: (item: I) => Promise<O>,
  executeMany: (items: readonly I[]) => Promise<readonly O[]>,
): Promise<O> {
  if (!tx.batch) return executeOne(item);
  return tx.batch.runInBatch(key, item, async (items: readonly I[]) => {
    const [onlyItem, ...others] = items;
    return others.length === 0 ? [await executeOne(onlyItem as I)] : executeMany(items);
  });
}
