import type { Tx } from '../store/database.js';

/**
 * Does something in a transaction: for one work alone, or by one statement for all that come to this point at the same time.
 *
 * @param key the same for what one statement can do
 */
export function gathered<I, O>(
  tx: Tx,
  key: string,
  item: I,
  one: (item: I) => Promise<O>,
  many: (items: readonly I[]) => Promise<readonly O[]>,
): Promise<O> {
  if (!tx.mates) return one(item);
  return tx.mates.gather(key, item, async (items: readonly I[]) => {
    const [only, ...others] = items;
    return others.length === 0 ? [await one(only as I)] : many(items);
  });
}
