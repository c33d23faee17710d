import { DatabaseSync } from 'node:sqlite';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { projectQuotas } from '../../src/index.js';
import { sqlite, sqlStore } from '../../src/sql/index.js';
import { testQuotaStore } from '../../src/testing/index.js';

const connections = [
  ['better-sqlite3', () => new Database(':memory:')],
  ['node:sqlite', () => new DatabaseSync(':memory:')],
] as const;

for (const [driver, open] of connections)
  testQuotaStore({
    describe,
    it,
    name: `SQLite with ${driver}`,
    open: async ({ clock }) => {
      const store = sqlStore({ database: sqlite(open()), clock });
      await store.createSchema();
      return store;
    },
  });

describe.each(connections)('sqlite() with %s', (_name, open) => {
  it('counts, and joins a transaction of the caller', async () => {
    const connection = open();
    const store = sqlStore({ database: sqlite(connection) });
    await store.createSchema();
    const quota = projectQuotas({ preset: 'key-manager', store, defaults: { secrets: 2 } });
    await (await quota.reserve('p', { secrets: 1 })).commit();
    connection.exec('BEGIN');
    await quota.consume('p', { secrets: 1 });
    connection.exec('ROLLBACK');
    expect((await quota.usage('p')).secrets).toEqual({ used: 1, reserved: 0, limit: 2 });
  });
});

async function fresh() {
  const connection = new Database(':memory:');
  const store = sqlStore({ database: sqlite(connection) });
  await store.createSchema();
  return { connection, store };
}

describe('sqlStore on SQLite', () => {
  it('creates its schema repeatedly and keeps existing data', async () => {
    const { store } = await fresh();
    await store.setLimits('p', { secrets: 1 });
    await store.createSchema();
    expect(await store.getLimits('p')).toEqual({ secrets: 1 });
  });

  it('joins a transaction of the caller', async () => {
    const { connection, store } = await fresh();
    const quota = projectQuotas({ preset: 'key-manager', store, defaults: { secrets: 1 } });
    connection.exec('BEGIN');
    await quota.consume('p', { secrets: 1 });
    await expect(quota.consume('p', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    connection.exec('ROLLBACK');
    expect((await quota.usage('p')).secrets!.used).toBe(0);
  });

  it('leaves the transaction of the caller usable when a step of its own fails', async () => {
    const { connection, store } = await fresh();
    connection.exec('CREATE TABLE things (name text)');
    connection.exec('BEGIN');
    connection.exec("INSERT INTO things VALUES ('kept')");
    connection.exec('DROP TABLE quota_holds');
    const quota = projectQuotas({ preset: 'key-manager', store });
    await expect(quota.reserve('p', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
    connection.exec('COMMIT');
    expect(connection.prepare('SELECT name FROM things').all()).toEqual([{ name: 'kept' }]);
  });

  it('separates several sets of tables by their prefix', async () => {
    const { connection, store } = await fresh();
    const other = sqlStore({ database: sqlite(connection), tablePrefix: 'other_' });
    await other.createSchema();
    await other.setLimits('p', { secrets: 1 });
    expect(await store.getLimits('p')).toBeUndefined();
  });

  it.each(['a b', 'x; DROP TABLE y', '', '1a', 'x'.repeat(32)])('rejects the table prefix %j', (tablePrefix) => {
    const database = sqlite(new Database(':memory:'));
    expect(() => sqlStore({ database, tablePrefix })).toThrow('tablePrefix must be');
  });

  it('rejects a misspelled option and a missing database', () => {
    expect(() => sqlStore({ databse: 1 } as never)).toThrow('did you mean "database"?');
    expect(() => sqlStore({} as never)).toThrow('a database is required');
  });
});
