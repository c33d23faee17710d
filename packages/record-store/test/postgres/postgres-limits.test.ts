import { sql } from 'kysely';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { lockName, type Store } from '../../src/store/store.js';
import { openStore } from '../open-store.js';
import { storesUnderTest } from '../stores-under-test.js';

const postgresUrl = inject('postgresUrl');
const trouble = (kind: string) => ({ code: 'DATABASE_UNAVAILABLE', status: 503, trouble: kind });

describe.skipIf(!postgresUrl)('limits of a PostgreSQL store', () => {
  let store: Store;
  afterEach(() => store.close());

  async function open(options: Parameters<typeof openStore>[1]): Promise<void> {
    const opened = await storesUnderTest(postgresUrl)[1]!.open();
    await opened.close();
    store = await openStore(opened.url, options);
  }

  /** A transaction that has begun, and how to end it. */
  async function held(work: (tx: Parameters<Parameters<Store['transaction']>[0]>[0]) => Promise<unknown>) {
    let end = () => {};
    const until = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun = () => {};
    const ready = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const done = store.transaction(async (tx) => {
      await work(tx);
      begun();
      await until;
    });
    await ready;
    return { end, done };
  }

  it('gives up a statement that takes too long, and keeps the connection', async () => {
    await open({ statementTimeoutMs: 100, poolSize: 1 });
    await expect(sql`select pg_sleep(30)`.execute(store.db)).rejects.toMatchObject(trouble('late'));
    await store.check();
  });

  it('leaves half of the connections to questions that do not take long', async () => {
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

  it('asks no more questions that may take long at the same time than it may', async () => {
    await open({ longReads: 1 });
    let [asked, most] = [0, 0];
    const executor = store.longReads.getExecutor();
    const provide = executor.provideConnection.bind(executor);
    executor.provideConnection = (use) =>
      provide(async (connection) => {
        most = Math.max(most, ++asked);
        return use(connection).finally(() => asked--);
      });
    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.05)`.execute(store.longReads)));
    expect(most).toBe(1);
  });

  it('gives up waiting for a lock', async () => {
    await open({ lockTimeoutMs: 100 });
    const { end, done } = await held((tx) => lockName(tx, 'one'));
    await expect(store.transaction((tx) => lockName(tx, 'one'))).rejects.toMatchObject(trouble('busy'));
    end();
    await done;
    await store.transaction((tx) => lockName(tx, 'one'));
  });

  it('gives up waiting for a connection', async () => {
    await open({ poolSize: 1, poolWaitMs: 100 });
    const { end, done } = await held(({ db }) => sql`select 1`.execute(db));
    await expect(store.check()).rejects.toMatchObject(trouble('busy'));
    end();
    await done;
    await store.check();
  });

  it('does not keep a transaction that rests for too long', async () => {
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

it('refuses settings that cannot be', async () => {
  await expect(openStore(':memory:', { poolSize: 0 })).rejects.toThrow('poolSize is 0: it is a whole number from 1');
  await expect(openStore(':memory:', { longReads: 0 })).rejects.toThrow('longReads is 0: it is a whole number from 1');
  await expect(openStore(':memory:', { lockTimeoutMs: -1 })).rejects.toThrow(RangeError);
});
