import { afterEach, describe, expect, inject, it } from 'vitest';
import { RecordCache } from '../../src/document-table/record-cache.js';
import type { Store } from '../../src/store/store.js';
import { storesUnderTest } from '../stores-under-test.js';
import { tables } from '../tables.js';

const record = (seq: number) => ({ seq, revision: 1 });

describe('the cache of records', () => {
  it('keeps recently used records, regardless of how many others are added', () => {
    const cache = new RecordCache();
    const hot = record(0);
    cache.set('servers', 'hot', hot);
    cache.set('servers', 'cold', record(1));
    for (let i = 0; i < 10_000; i++) {
      cache.set('servers', `other-${i}`, record(i + 2));
      if (i % 1000 === 0) expect(cache.get('servers', 'hot')).toBe(hot);
    }
    expect(cache.get('servers', 'hot')).toBe(hot);
    expect(cache.get('servers', 'cold')).toBeUndefined();
  });

  it('keeps tables separate', () => {
    const cache = new RecordCache();
    cache.set('servers', 'a', record(1));
    expect(cache.get('flavors', 'a')).toBeUndefined();
  });
});

describe.each(storesUnderTest(inject('postgresUrl')))('two stores in one process on $kind', ({ open }) => {
  const opened: { store: Store; close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close();
  });

  it('do not evict records of other stores', async () => {
    opened.push(await open(), await open());
    const [one, other] = opened.map(({ store }) => store) as [Store, Store];
    const group = { policy: 'affinity', maxServerPerHost: null, projectId: 'p1', userId: 'ada', createdAt: 0 } as const;
    await one.transaction((tx) => tables.serverGroups.insert(tx, { id: 'kept', name: 'kept', ...group }));
    const read = await tables.serverGroups.get(one, 'kept');
    for (let i = 0; i < 5000; i++) other.records.set(tables.serverGroups.name, `g${i}`, record(i));
    expect(read).toBeDefined();
    expect(await tables.serverGroups.get(one, 'kept')).toBe(read);
  });
});
