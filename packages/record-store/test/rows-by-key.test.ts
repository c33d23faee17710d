import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Store } from '../src/store/store.js';
import { storesUnderTest } from './stores-under-test.js';
import { tables } from './tables.js';

describe.each(storesUnderTest(inject('postgresUrl')))('get() on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  const group = (id: string) => ({ id, projectId: 'p', userId: 'u', name: id });
  const change = (id: string, fields: Readonly<Record<string, unknown>>) =>
    store.db.updateTable('server_groups').set(fields).where('id', '=', id).execute();

  it('does not read the JSON of a cached record again', async () => {
    const inserted = await store.transaction((tx) => tables.serverGroups.insert(tx, group('cached')));
    await change('cached', { data: 'not JSON' });
    expect(await tables.serverGroups.get(store, 'cached')).toBe(inserted);
  });

  it('returns the changes of other processes, each for its record', async () => {
    for (const id of ['a', 'b', 'c']) await store.transaction((tx) => tables.serverGroups.insert(tx, group(id)));
    await change('b', { revision: 7, data: JSON.stringify({ ...group('b'), name: 'changed' }) });
    await store.db.deleteFrom('server_groups').where('id', '=', 'c').execute();
    const found = await Promise.all(['a', 'b', 'c', 'd'].map((id) => tables.serverGroups.get(store, id)));
    expect(found.map((record) => record?.name)).toEqual(['a', 'changed', undefined, undefined]);
  });
});
