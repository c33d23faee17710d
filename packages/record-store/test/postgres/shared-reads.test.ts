import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { freePort } from '../../../../testing/servers.js';
import { hotStatement } from '../../src/batching/hot-statement.js';
import type { StoreObserver } from '../../src/observation/store-observer.js';
import { defaultDatabaseSettings } from '../../src/options/database-settings.js';
import { openDatabase } from '../../src/store/database.js';

const postgresUrl = inject('postgresUrl');

const tenth = hotStatement<{ readonly value: number }>(({ db }) =>
  db.selectNoFrom(sql<number>`10 / ${1}::integer`.as('value')),
);

describe.skipIf(!postgresUrl)('frequent queries of one turn of the event loop', () => {
  async function opened(observer: StoreObserver, url?: string) {
    const session = openDatabase(url ?? (await freshDatabase(postgresUrl)), defaultDatabaseSettings, observer);
    onTestFinished(() => session.db.destroy());
    return session;
  }

  it('share connections, eight on each', async () => {
    let acquired = 0;
    const session = await opened({ pool: ({ waitedMs }) => void (acquired += waitedMs === undefined ? 0 : 1) });
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => tenth(session, [(index % 10) + 1])));
    expect(results.map(({ rows }) => rows[0]?.value)).toEqual([...tenths, ...tenths]);
    expect(acquired).toBe(3);
  });

  it('fail individually', async () => {
    const session = await opened({});
    const results = await Promise.allSettled([2, 0, 5].map((divisor) => tenth(session, [divisor])));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('all fail if the database is unavailable', async () => {
    const session = await opened({}, `postgres://me@127.0.0.1:${await freePort()}/cloud`);
    const results = await Promise.allSettled([1, 2].map((divisor) => tenth(session, [divisor])));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('keep the asynchronous context of their callers for traces', async () => {
    const callers = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const session = await opened({ around: () => {}, statement: () => seen.push(callers.getStore()) });
    await Promise.all(['ada', 'bob'].map((caller) => callers.run(caller, () => tenth(session, [1]))));
    expect(seen).toEqual(['ada', 'bob']);
  });
});

const tenths = [10, 5, 3, 2, 2, 1, 1, 1, 1, 1];
