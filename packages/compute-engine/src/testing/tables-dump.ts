import type { Store } from '@apistrata/record-store';
import type { Engine } from '../engine/engine.js';
import { coreOf } from '../engine/engine-core.js';

/** A row as stored in the database. */
export type Row = Readonly<Record<string, unknown>>;

/** All rows of all tables, by table name. It is plain data, which can be loaded into an engine of the same version. */
export type TablesDump = Readonly<Record<string, readonly Row[]>>;

/** Kysely's own tables, which every database already has. */
const MIGRATION_TABLES = ['kysely_migration', 'kysely_migration_lock'];
/** Maximum number of parameters of a SQLite statement. */
const MAX_PARAMETERS = 30_000;

async function tableNames(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('sqlite_master')
    .select('name')
    .where('type', '=', 'table')
    .where('name', 'not in', MIGRATION_TABLES)
    .execute();
  return rows.map(({ name }) => name as string);
}

function requireSqliteCore(name: string, engine: Engine) {
  const core = coreOf(engine);
  if (core.store.kind !== 'sqlite') throw new TypeError(`${name}() requires an engine with a SQLite database`);
  return core;
}

/**
 * Reads all tables of an engine at one point in time. Only for tests, and only on SQLite.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { dumpTables, loadTables } from '@apistrata/compute-engine/testing';
 *
 * const engine = await createEngine();
 * const before = await dumpTables(engine);
 * await loadTables(await createEngine({ preset: {} }), before);
 * ```
 */
export async function dumpTables(engine: Engine): Promise<TablesDump> {
  const { store } = requireSqliteCore('dumpTables', engine);
  const names = await tableNames(store);
  return store.transaction(async (tx) => {
    const dump: Record<string, readonly Row[]> = {};
    for (const name of names) dump[name] = await tx.db.selectFrom(name).selectAll().execute();
    return dump;
  });
}

/**
 * Replaces the tables of an engine with the tables in a dump. Jobs that were in progress when the dump was created are
 * resumed.
 */
export async function loadTables(engine: Engine, dump: TablesDump): Promise<void> {
  const { store, infrastructure } = requireSqliteCore('loadTables', engine);
  await store.transaction(async (tx) => {
    for (const [name, rows] of Object.entries(dump)) {
      await tx.db.deleteFrom(name).execute();
      const [firstRow] = rows;
      if (!firstRow) continue;
      const batchRows = Math.max(1, Math.floor(MAX_PARAMETERS / Object.keys(firstRow).length / 10));
      for (let start = 0; start < rows.length; start += batchRows)
        await tx.db
          .insertInto(name)
          .values(rows.slice(start, start + batchRows))
          .execute();
    }
    infrastructure.invalidateAfterCommit(tx);
    await tx.db.updateTable('jobs').set({ lease_until: 0, lease_owner: null }).execute();
  });
}
