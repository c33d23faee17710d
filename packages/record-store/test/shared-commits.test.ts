import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { compoundKey } from '../src/document-table/compound-key.js';
import type { Tx } from '../src/store/database.js';
import { lockName, type Store } from '../src/store/store.js';
import { openStore } from './open-store.js';
import { storesUnderTest } from './stores-under-test.js';
import { tables } from './tables.js';

const keypair = (name: string) =>
  ({ userId: 'ada', name, type: 'ssh', publicKey: 'ssh-rsa AAAA', fingerprint: 'aa', createdAt: 5 }) as const;

describe.each(storesUnderTest(inject('postgresUrl')))('transactions in batches on $kind', ({ kind, open }) => {
  let store: Store;
  let url: string;
  const statements: string[] = [];
  const groups: number[] = [];

  beforeAll(async () => {
    const opened = await open();
    await opened.close();
    ({ url } = opened);
    store = await openStore(
      url,
      {},
      {
        statement: ({ name }) => statements.push(name),
        commit: ({ transactions }) => groups.push(transactions),
      },
    );
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.db.deleteFrom('keypairs').execute();
    statements.length = 0;
    groups.length = 0;
  });

  const itOnPostgres = it.runIf(kind === 'PostgreSQL');
  const insert = (name: string) => async (tx: Tx) => (await tables.keypairs.insert(tx, keypair(name))).name;
  const retained = async () => (await tables.keypairs.find(store, (q) => q.orderBy('name'))).map(({ name }) => name);

  itOnPostgres('wait only for the commits of their own queue', async () => {
    const [begun, mayEnd] = [new AbortController(), new AbortController()];
    const slow = store.together(async (tx) => {
      await insert('slow')(tx);
      begun.abort();
      await once(mayEnd.signal, 'abort');
    });
    await once(begun.signal, 'abort');
    await store.together(insert('quick'), 'other');
    expect(await retained()).toEqual(['quick']);
    mayEnd.abort();
    await slow;
    expect(await retained()).toEqual(['quick', 'slow']);
  });

  itOnPostgres('do not wait for a lock of another transaction when they update', async () => {
    const records = await Promise.all(
      ['a', 'b'].map((name) => store.transaction((tx) => tables.keypairs.insert(tx, keypair(name)))),
    );
    const [first, second] = records;
    if (!first || !second) throw new Error('not inserted');
    let end = () => {};
    const released = new Promise<void>((resolve) => {
      end = resolve;
    });
    let locked = () => {};
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve;
    });
    const holder = store.transaction(async (tx) => {
      await tables.keypairs.lock(tx, compoundKey('ada', 'a'));
      locked();
      await released;
    });
    await isLocked;
    const update = (record: typeof first) =>
      store.together((tx) => tables.keypairs.update(tx, { ...record, fingerprint: 'bb' }));
    const waits = update(first);
    expect(await update(second)).toMatchObject({ name: 'b', fingerprint: 'bb' });
    end();
    await holder;
    expect(await waits).toMatchObject({ name: 'a', fingerprint: 'bb' });
  });

  it('share one commit, and each has its own result and follow-ups', async () => {
    const followed: string[] = [];
    const names = ['a', 'b', 'c', 'd'];
    const created = await Promise.all(
      names.map((name) =>
        store.together(async (tx) => {
          tx.afterCommit(() => followed.push(name));
          return insert(name)(tx);
        }),
      ),
    );
    expect(created).toEqual(names);
    expect(followed).toEqual(names);
    expect(statements.filter((name) => name === 'commit')).toHaveLength(1);
    expect(groups).toEqual([4]);
    expect(await retained()).toEqual(names);
  });

  it('do not affect others when they fail before a change', async () => {
    const rejected = async (tx: Tx) => {
      await tables.keypairs.get(tx, 'nothing');
      throw new Error('rejected');
    };
    const outcomes = await Promise.allSettled([insert('a'), rejected, insert('b')].map((work) => store.together(work)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(statements.filter((name) => name === 'commit')).toHaveLength(1);
    expect(await retained()).toEqual(['a', 'b']);
  });

  it('are rolled back when they fail after a change, and the others still succeed', async () => {
    const followed: string[] = [];
    const failing = async (tx: Tx) => {
      await insert('half')(tx);
      throw new Error('failed');
    };
    const wrong = async (tx: Tx) => {
      await sql`select nonsense`.execute(tx.db);
      return '';
    };
    const fine = (name: string) => async (tx: Tx) => {
      tx.afterCommit(() => followed.push(name));
      return insert(name)(tx);
    };
    const works = [fine('a'), failing, wrong, fine('b')];
    const outcomes = await Promise.allSettled(works.map((work) => store.together(work)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect((outcomes[1] as PromiseRejectedResult).reason.message).toBe('failed');
    expect((outcomes[2] as PromiseRejectedResult).reason.message).toMatch(/nonsense/);
    expect(followed.sort()).toEqual(['a', 'b']);
    expect(await retained()).toEqual(['a', 'b']);
  });

  it('run one after the other if they lock the same name', async () => {
    const order: string[] = [];
    const counted = (name: string, locked: string) => async (tx: Tx) => {
      await lockName(tx, locked);
      const before = await tables.keypairs.count(tx, (q) => q.where('user_id', '=', 'ada'));
      await insert(name)(tx);
      order.push(name);
      return before;
    };
    const works = [counted('a', 'one'), counted('b', 'one'), counted('c', 'one')];
    expect(await Promise.all(works.map((work) => store.together(work)))).toEqual([0, 1, 2]);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  itOnPostgres('do not make others wait for a name that another transaction locks', { timeout: 30_000 }, async () => {
    await store.transaction((tx) => tables.keypairs.insert(tx, keypair('row')));
    const events: string[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begin = () => {};
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const holding = store.transaction(async (tx) => {
      await lockName(tx, 'held');
      await tables.keypairs.lock(tx, 'ada/row');
      begin();
      await ended;
      events.push('given up');
    });
    await started;
    const named = store.together(async (tx) => {
      await lockName(tx, 'held');
      events.push('had the name');
    });
    const row = store.together(async (tx) => {
      await tables.keypairs.lock(tx, 'ada/row');
      events.push('had the row');
    });
    const concurrent = store.together(insert('beside')).then(() => events.push('beside'));
    await concurrent;
    expect(events).toEqual(['beside']);
    end();
    await Promise.all([holding, named, row]);
    expect(events.slice(0, 2)).toEqual(['beside', 'given up']);
    expect(events.slice(2).sort()).toEqual(['had the name', 'had the row']);
  });

  itOnPostgres('write concurrent rows with one statement', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const write = (name: string) => async (tx: Tx) => {
      const { seq, revision } = await tables.keypairs.insert(tx, keypair(name));
      await tables.keypairs.insertIfAbsent(tx, keypair(name));
      const locked = await tables.keypairs.lock(tx, `ada/${name}`);
      expect(locked).toMatchObject({ name, seq, revision });
      const changed = await tables.keypairs.update(tx, { ...locked!, fingerprint: `"${name}", {\\}` });
      return [await tables.keypairs.get(tx, `ada/${name}`), changed];
    };
    const written = await Promise.all(names.map((name) => store.together(write(name))));
    const requested = statements.filter((name) => /keypairs/.test(name));
    expect(requested).toEqual([
      'insert keypairs',
      'insert keypairs',
      'select keypairs',
      'update keypairs',
      'select keypairs',
    ]);
    const read = await tables.keypairs.find(store, (q) => q.orderBy('seq'));
    expect(read.map(({ name, fingerprint }) => [name, fingerprint])).toEqual(
      names.map((name) => [name, `"${name}", {\\}`]),
    );
    expect(written).toEqual(read.map((record) => [record, record]));
  });

  itOnPostgres(
    'lock the current records, including those that another process has changed since they were read',
    async () => {
      for (const name of ['a', 'b']) await store.transaction(insert(name));
      const other = await openStore(url);
      try {
        for (const name of ['a', 'b'])
          await other.transaction(async (tx) => {
            const read = await tables.keypairs.lock(tx, `ada/${name}`);
            await tables.keypairs.update(tx, { ...read!, fingerprint: 'theirs' });
          });
      } finally {
        await other.close();
      }
      const locked = (name: string) => async (tx: Tx) => (await tables.keypairs.lock(tx, `ada/${name}`))?.fingerprint;
      statements.length = 0;
      const together = () => Promise.all(['a', 'b', 'nobody'].map((name) => store.together(locked(name))));
      expect(await together()).toEqual(['theirs', 'theirs', undefined]);
      expect(await store.transaction(locked('a'))).toBe('theirs');
      // JSON is read only once: afterwards, the revisions show that it is unchanged.
      expect(statements.filter((name) => name === 'select keypairs')).toHaveLength(3);
    },
  );

  it('skip rows that others have locked, row by row', async () => {
    await store.transaction((tx) => tables.keypairs.insert(tx, keypair('there')));
    const stale = await tables.keypairs.get(store, 'ada/there');
    await store.transaction((tx) => tables.keypairs.update(tx, { ...stale!, fingerprint: 'theirs' }));
    let tries = 0;
    const works = ['a', 'b'].map((name) => async (tx: Tx) => {
      await tables.keypairs.insertIfAbsent(tx, keypair('there'));
      return insert(name)(tx);
    });
    const late = async (tx: Tx) => {
      const read = tries++ === 0 ? stale! : (await tables.keypairs.get(tx, 'ada/there'))!;
      return (await tables.keypairs.update(tx, { ...read, fingerprint: 'ours' })).fingerprint;
    };
    expect(await Promise.all([...works, late].map((work) => store.together(work)))).toEqual(['a', 'b', 'ours']);
    expect(tries).toBeGreaterThan(1);
    expect(await retained()).toEqual(['a', 'b', 'there']);
    expect(await tables.keypairs.get(store, 'ada/there')).toMatchObject({ fingerprint: 'ours' });
  });

  itOnPostgres('are all rolled back when a batched statement fails, and then run one by one', async () => {
    await store.transaction(insert('taken'));
    const works = ['a', 'taken', 'b'].map((name) => store.together(insert(name)));
    const outcomes = await Promise.allSettled(works);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await retained()).toEqual(['a', 'b', 'taken']);
  });

  itOnPostgres('batch concurrent look-ups into one query', async () => {
    for (const name of ['a', 'b']) await store.transaction(insert(name));
    statements.length = 0;
    const request = ['ada/a', 'ada/b', 'ada/a', 'ada/nobody'].map((id) => tables.keypairs.get(store, id));
    const rejected = tables.keypairs.get(store, 'ada/\0');
    await expect(rejected).rejects.toThrow();
    expect((await Promise.all(request)).map((found) => found?.name)).toEqual(['a', 'b', 'a', undefined]);
    expect(statements).toEqual(['select keypairs', 'select keypairs']);
    // A query that starts after the result of another one sees later changes.
    await store.transaction((tx) => tables.keypairs.delete(tx, 'ada/a'));
    expect(await tables.keypairs.get(store, 'ada/a')).toBeUndefined();
  });

  itOnPostgres('continue after a pooler has switched the session, and with it the prepared statements', async () => {
    await tables.keypairs.get(store, 'nothing');
    await store.transaction(insert('a'));
    for (let n = 0; n < 10; n++)
      await Promise.all(Array.from({ length: 10 }, () => sql`deallocate all`.execute(store.db)));
    expect(await tables.keypairs.get(store, 'ada/a')).toMatchObject({ name: 'a' });
    const other = await openStore((await storesUnderTest(inject('postgresUrl'))[1]!.open()).url, { poolSize: 1 });
    try {
      await other.transaction(insert('b'));
      await sql`deallocate all`.execute(other.db);
      await other.transaction(insert('c'));
      expect(await tables.keypairs.get(other, 'ada/c')).toMatchObject({ name: 'c' });
    } finally {
      await other.close();
    }
  });
});
