import type { Engine, Store } from '@apistrata/compute-engine';

export type Row = Readonly<Record<string, unknown>>;

/** All rows of all tables. */
export type TablesDump = Readonly<Record<string, readonly Row[]>>;

/** Kysely's own bookkeeping, which every database has already. */
const BOOKKEEPING = ['kysely_migration', 'kysely_migration_lock'];
/** What one statement of SQLite may bind. */
const MOST_PARAMETERS = 30_000;

async function tableNames(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('sqlite_master')
    .select('name')
    .where('type', '=', 'table')
    .where('name', 'not in', BOOKKEEPING)
    .execute();
  return rows.map(({ name }) => name as string);
}

/** Reads everything at one moment. */
export async function dumpTables(store: Store): Promise<TablesDump> {
  const names = await tableNames(store);
  return store.transaction(async (tx) => {
    const dump: Record<string, readonly Row[]> = {};
    for (const name of names) dump[name] = await tx.db.selectFrom(name).selectAll().execute();
    return dump;
  });
}

/** Makes the tables what they were. Work that was under way then is there to be taken up. */
export async function loadTables({ store, infrastructure }: Engine, dump: TablesDump): Promise<void> {
  await store.transaction(async (tx) => {
    for (const [name, rows] of Object.entries(dump)) {
      await tx.db.deleteFrom(name).execute();
      if (rows.length === 0) continue;
      const size = Math.max(1, Math.floor(MOST_PARAMETERS / Object.keys(rows[0]!).length / 10));
      for (let start = 0; start < rows.length; start += size)
        await tx.db
          .insertInto(name)
          .values(rows.slice(start, start + size))
          .execute();
    }
    infrastructure.changedIn(tx);
    await tx.db.updateTable('jobs').set({ lease_until: 0, lease_owner: null }).execute();
  });
}
