import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hotFind } from '../src/document-table/hot-find.js';
import type { Store } from '../src/store/store.js';
import { storesUnderTest } from './stores-under-test.js';
import { tables } from './tables.js';

const keypair = (userId: string, name: string) => ({
  userId,
  name,
  type: 'ssh',
  publicKey: 'ssh-rsa AAAA',
  fingerprint: 'aa:bb',
  createdAt: 5,
});

describe.each(storesUnderTest(inject('postgresUrl')))('hotFind() on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ store, close } = await open());
    await store.transaction(async (tx) => {
      for (const [userId, name] of [
        ['ada', 'b'],
        ['ada', 'a'],
        ['bob', 'c'],
      ] as const)
        await tables.keypairs.insert(tx, keypair(userId, name));
    });
  });
  afterAll(() => close());

  it('builds its query once, and finds records by the parameters of each call', async () => {
    let built = 0;
    const ofUser = hotFind(tables.keypairs, (rows) => {
      built++;
      return rows.where('user_id', '=', '').orderBy('name').limit(0);
    });
    const namesOf = async (user: string, limit: number) => (await ofUser(store, [user, limit])).map(({ name }) => name);
    expect(await namesOf('ada', 10)).toEqual(['a', 'b']);
    expect(await namesOf('ada', 1)).toEqual(['a']);
    expect(await namesOf('bob', 10)).toEqual(['c']);
    expect(await namesOf('eve', 10)).toEqual([]);
    expect(built).toBe(1);
  });

  it('returns changes of records, including those of other processes', async () => {
    const ofUser = hotFind(tables.keypairs, (rows) => rows.where('user_id', '=', ''));
    const [before] = await ofUser(store, ['bob']);
    const data = JSON.stringify({ ...keypair('bob', 'c'), fingerprint: 'cc' });
    await store.db.updateTable('keypairs').set({ data, revision: 7 }).where('user_id', '=', 'bob').execute();
    expect(before?.fingerprint).toBe('aa:bb');
    expect((await ofUser(store, ['bob']))[0]?.fingerprint).toBe('cc');
  });
});
