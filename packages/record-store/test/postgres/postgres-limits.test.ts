import { sql } from 'kysely';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { lockName, type Store } from '../../src/store/store.js';
import { openStore } from '../open-store.js';
import { storesUnderTest } from '../stores-under-test.js';

const postgresUrl = inject('postgresUrl');
const failure = (kind: string) => ({ code: 'DATABASE_UNAVAILABLE', status: 503, failure: kind });

describe.skipIf(!postgresUrl)('limits of a PostgreSQL store', () => {
  let store: Store;
  afterEach(() => store.close());

  async function open(options: Parameters<typeof openStore>[1]): Promise<void> {
    const opened = await storesUnderTest(postgresUrl)[1]!.open();
    await opened.close();
    store = await openStore(opened.url, options);
  }

  /** Starts a transaction, and returns the function that ends it. */
  async function inTransaction(work: (tx: Parameters<Parameters<Store['transaction']>[0]>[0]) => Promise<unknown>) {
    let end = () => {};
    const until = new Promise<void>((resolve) => {
      end = resolve;
    });
    let started = () => {};
    const ready = new Promise<void>((resolve) => {
      started = resolve;
    });
    const done = store.transaction(async (tx) => {
      await work(tx);
      started();
      await until;
    });
    await ready;
    return { end, done };
  }

  it('cancels a statement that takes too long, and keeps the connection', async () => {
    await open({ statementTimeoutMs: 100, poolSize: 1 });
    const session = async () => (await sql`select pg_backend_pid() as pid`.execute(store.db)).rows;
    const before = await session();
    await expect(sql`select pg_sleep(30)`.execute(store.db)).rejects.toMatchObject(failure('timeout'));
    expect(await session()).toEqual(before);
  });

  it('reserves half of the connections for short queries', async () => {
    await open({ poolSize: 2, longReads: 2 });
    const order: string[] = [];
    const long = Array.from({ length: 4 }, () =>
      sql`select pg_sleep(0.3)`.execute(store.longReads).then(() => order.push('long')),
    );
    await sql`select 1`.execute(store.db);
    order.push('short');
    await Promise.all(long);
    expect(order).toEqual(['short', 'long', 'long', 'long', 'long']);
    await expect(sql`select nonsense`.execute(store.longReads)).rejects.toThrow(/nonsense/);
    await sql`select 1`.execute(store.longReads);
  });

  it('limits the number of concurrent long queries', async () => {
    await open({ longReads: 1 });
    const active = sql<{ n: number }>`select pg_sleep(0.05), (select count(*)::int from pg_stat_activity
      where datname = current_database() and state = 'active' and query like '%one of four%') as n /* one of four */`;
    const results = await Promise.all(Array.from({ length: 4 }, () => active.execute(store.longReads)));
    expect(results.map(({ rows }) => rows[0]?.n)).toEqual([1, 1, 1, 1]);
  });

  it('stops waiting for a lock at its timeout', async () => {
    await open({ lockTimeoutMs: 100 });
    const { end, done } = await inTransaction((tx) => lockName(tx, 'one'));
    await expect(store.transaction((tx) => lockName(tx, 'one'))).rejects.toMatchObject(failure('busy'));
    end();
    await done;
    await store.transaction((tx) => lockName(tx, 'one'));
  });

  it('stops waiting for a connection at its timeout', async () => {
    await open({ poolSize: 1, poolWaitMs: 1000 });
    const { end, done } = await inTransaction(({ db }) => sql`select 1`.execute(db));
    await expect(store.check()).rejects.toMatchObject(failure('busy'));
    end();
    await done;
    await store.check();
  });

  it('ends a transaction that is idle for too long', async () => {
    await open({ idleTransactionTimeoutMs: 100 });
    const resting = store.transaction(async ({ db }) => {
      await sql`select 1`.execute(db);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await sql`select 1`.execute(db);
    });
    await expect(resting).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await store.check();
  });
});

it('rejects invalid settings', async () => {
  await expect(openStore(':memory:', { poolSize: 0 })).rejects.toThrow('poolSize is 0: it must be an integer from 1');
  await expect(openStore(':memory:', { longReads: 0 })).rejects.toThrow('longReads is 0: it must be an integer from 1');
  await expect(openStore(':memory:', { lockTimeoutMs: -1 })).rejects.toThrow(RangeError);
});
