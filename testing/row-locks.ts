import type { Store, Tx } from '../packages/record-store/src/index.js';
import { eventually } from './eventually.js';

/** Waits until the given number of a PostgreSQL database's transactions wait for locks. */
export async function waitForLockWaits({ db }: Pick<Store, 'db'>, count = 1): Promise<void> {
  await eventually(async () => {
    const waits = await db
      .selectFrom('pg_stat_activity')
      .select('pid')
      .where('wait_event_type', '=', 'Lock')
      .where(({ eb, fn }) => eb('datname', '=', fn('current_database')))
      .execute();
    if (waits.length !== count) throw new Error(`${waits.length} transactions wait for locks, not ${count}`);
  });
}

/**
 * Locks rows of a PostgreSQL database, and throws an error if another transaction has locked one of them. A test thereby
 * checks that a transaction that waits for its first lock has not acquired other locks in the wrong order.
 */
export async function lockWithoutWaiting(tx: Tx, table: string, column: string, value: string): Promise<void> {
  await tx.db.selectFrom(table).select(column).where(column, '=', value).forUpdate().noWait().execute();
}
