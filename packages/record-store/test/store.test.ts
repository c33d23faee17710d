import { randomUUID } from 'node:crypto';
import { type CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { compoundKey } from '../src/document-table/compound-key.js';
import { RecordCache } from '../src/document-table/record-cache.js';
import { StaleRecord } from '../src/errors/stale-record.js';
import type { Store } from '../src/store/store.js';
import { openStore } from './open-store.js';
import { storesUnderTest } from './stores-under-test.js';
import type { Keypair } from './tables.js';
import { sampleServer, serverDefaults, tables } from './tables.js';

const ada = {
  userId: 'ada',
  name: 'k1',
  type: 'ssh',
  publicKey: 'ssh-rsa AAAA',
  fingerprint: 'aa:bb',
  createdAt: 5,
} as const;

describe.each(storesUnderTest(inject('postgresUrl')))('the store on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  const key = compoundKey('ada', 'k1');

  it('numbers records and returns what was inserted', async () => {
    const put = await store.transaction((tx) => tables.keypairs.insert(tx, ada));
    const got = (await tables.keypairs.get(store, key))!;
    expect(got).toEqual({ ...ada, seq: put.seq, revision: put.revision });
    expect(await tables.keypairs.bySeq(store, put.seq)).toEqual(got);
    expect(await tables.keypairs.find(store, (q) => q.where('user_id', '=', 'ada'))).toEqual([got]);
    expect(await tables.keypairs.count(store, (q) => q.where('user_id', '=', 'nobody'))).toBe(0);
  });

  it('rejects an update of a record that was changed in the meantime', async () => {
    const read = (await tables.keypairs.get(store, key))!;
    await store.transaction((tx) => tables.keypairs.update(tx, { ...read, fingerprint: 'cc' }));
    const alone = { afterCommit: () => {}, concerns: () => {} };
    const late = store.db
      .transaction()
      .execute((db) => tables.keypairs.update({ ...store, ...alone, db }, { ...read, fingerprint: 'dd' }));
    await expect(late).rejects.toThrow(StaleRecord);
    expect((await tables.keypairs.get(store, key))!.fingerprint).toBe('cc');
  });

  it('loses none of many concurrent changes to one record', async () => {
    const bump = () =>
      store.transaction(async (tx) => {
        const read = (await tables.keypairs.lock(tx, key))! as Keypair;
        await tables.keypairs.update(tx, { ...read, createdAt: read.createdAt + 1 });
      });
    await Promise.all(Array.from({ length: 40 }, bump));
    expect((await tables.keypairs.get(store, key))!.createdAt).toBe(45);
  });

  it('fills in defaults of fields that were added after a record was stored', async () => {
    const { seq: _, revision: __, ...server } = sampleServer({ description: 'kept', tags: ['kept'] });
    const { seq } = await store.transaction((tx) => tables.servers.insert(tx, server));
    const newer = ['accessIpV4', 'accessIpV6', 'metadata', 'trustedCerts', 'userData', 'newFlavor', 'setAsideAt'];
    const old = Object.entries(server).filter(([name]) => !newer.includes(name));
    await store.db
      .updateTable('servers')
      .set({ data: JSON.stringify(Object.fromEntries(old)), revision: 1 })
      .where('seq', '=', seq)
      .execute();
    const { description, tags, ...defaults } = serverDefaults;
    const expected = { ...server, ...defaults, newFlavor: null, setAsideAt: null, seq, revision: 1 };
    expect(await tables.servers.get(store, server.id)).toEqual(expected);
    expect(await tables.servers.find(store, (q) => q.where('seq', '=', seq))).toEqual([expected]);
    const changed = await store.transaction((tx) => tables.servers.update(tx, expected));
    expect(await tables.servers.get(store, server.id)).toEqual(changed);
  });

  it('reads many uncached records in chunks, in the requested order, and yields to the event loop between them', async () => {
    const { seq: _, revision: __, ...server } = sampleServer({});
    await store.transaction(async (tx) => {
      for (let n = 0; n < 250; n++) await tables.servers.insert(tx, { ...server, id: randomUUID(), name: `many-${n}` });
    });
    const executor = store.db.getExecutor();
    const requested: CompiledQuery[] = [];
    const execute = executor.executeQuery.bind(executor);
    const executed = vi.spyOn(executor, 'executeQuery');
    executed.mockImplementation((query, ...rest) => {
      requested.push(query);
      return execute(query, ...rest);
    });
    let turns = 0;
    let ended = false;
    const count = () => {
      turns++;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    const otherStore = { ...store, records: new RecordCache() };
    const read = await tables.servers.find(otherStore, (q) => q.where('name', 'like', 'many-%').orderBy('seq', 'desc'));
    ended = true;
    executed.mockRestore();
    expect(read.map(({ name }) => name)).toEqual(Array.from({ length: 250 }, (_, n) => `many-${249 - n}`));
    expect(requested).toHaveLength(1 + 3);
    expect(turns).toBeGreaterThanOrEqual(2);
  });

  it('rolls back everything, and runs no follow-up, when the work throws', async () => {
    let followed = false;
    const failing = store.transaction(async (tx) => {
      tx.afterCommit(() => {
        followed = true;
      });
      await tables.keypairs.delete(tx, key);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(followed).toBe(false);
    expect(await tables.keypairs.get(store, key)).toBeDefined();
  });

  it('of several transactions that share a commit, rolls back only the failing one', async () => {
    const add = (name: string, fail: boolean) =>
      store.transaction(async (tx) => {
        await tables.keypairs.insert(tx, { ...ada, userId: 'group', name });
        if (fail) throw new Error(`no ${name}`);
        return name;
      });
    const results = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => add(`k${i}`, i % 3 === 0)));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const retained = await tables.keypairs.find(store, (q) => q.where('user_id', '=', 'group'));
    expect(retained).toHaveLength(20);
    expect(retained.some(({ name }) => name === 'k3')).toBe(false);
  });

  it('shares one decoded record among readers until it changes', async () => {
    const first = await tables.keypairs.get(store, key);
    expect(await tables.keypairs.get(store, key)).toBe(first);
    await store.transaction(async (tx) => tables.keypairs.update(tx, { ...first!, fingerprint: 'ee' }));
    expect((await tables.keypairs.get(store, key))!.fingerprint).toBe('ee');
  });

  it('updates the latest version of a record, even if the cache contains another one', async () => {
    const key = compoundKey('ada', 'k2');
    const changed = (fingerprint: string, revision?: number) =>
      store.transaction(async (tx) => {
        const locked = await tables.keypairs.lockToUpdate(tx, key, revision);
        return locked && tables.keypairs.update(tx, { ...locked, fingerprint });
      });
    const first = await store.transaction((tx) => tables.keypairs.insert(tx, { ...ada, name: 'k2' }));
    const rolledBack = store.transaction(async (tx) => {
      await tables.keypairs.update(tx, { ...first, fingerprint: 'of a transaction that fails' });
      throw new Error('failed');
    });
    await expect(rolledBack).rejects.toThrow('failed');
    const second = await changed('bb', first.revision);
    expect(second).toMatchObject({ fingerprint: 'bb', publicKey: ada.publicKey });
    // Another program writes.
    const data = JSON.stringify({ ...ada, name: 'k2', type: 'x509' });
    await store.db.updateTable('keypairs').set({ revision: 1, data }).where('id', '=', key).execute();
    expect(await changed('cc')).toMatchObject({ fingerprint: 'cc', type: 'x509' });
    await store.db.deleteFrom('keypairs').where('id', '=', key).execute();
    expect(await changed('dd')).toBeUndefined();
  });
});

it.skipIf(!inject('postgresUrl'))('can be opened by several processes concurrently', async () => {
  const { store, url } = await storesUnderTest(inject('postgresUrl'))[1]!.open();
  await store.db.schema.dropTable('kysely_migration').execute();
  await store.db.schema.dropTable('kysely_migration_lock').execute();
  for (const { name } of await store.db.introspection.getTables()) await store.db.schema.dropTable(name).execute();
  const opened = await Promise.all(Array.from({ length: 6 }, () => openStore(url)));
  expect(await tables.keypairs.count(opened[0]!)).toBe(0);
  await Promise.all([store, ...opened].map((each) => each.close()));
});

it.skipIf(!inject('postgresUrl'))('detects by a check that the disk of PostgreSQL is full', async () => {
  const { store, url } = await storesUnderTest(inject('postgresUrl'))[1]!.open();
  const run = (statement: string) => sql.raw(statement).execute(store.db);
  await store.check();
  await run(`create function fail() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
  await run('create trigger fail before update on kysely_migration_lock execute function fail()');
  await expect(store.check()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  await run('drop trigger fail on kysely_migration_lock');
  await store.check();
  // Rows may fit into existing files even if there is no disk space for a sort.
  await run(`alter database ${new URL(url).pathname.slice(1)} set temp_file_limit = 0`);
  const limited = await openStore(url);
  await expect(limited.check()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  await limited.close();
  await store.close();
});

it('contains all records when its file is opened again', async () => {
  const { mkdtempSync, rmSync } = await import('node:fs');
  const folder = mkdtempSync(`${(await import('node:os')).tmpdir()}/apistrata-`);
  const file = `${folder}/cloud.db`;
  const first = await openStore(file);
  await first.transaction((tx) => tables.keypairs.insert(tx, ada));
  await first.close();
  const second = await openStore(file);
  expect(await tables.keypairs.get(second, compoundKey('ada', 'k1'))).toMatchObject(ada);
  await second.close();
  rmSync(folder, { recursive: true });
});
