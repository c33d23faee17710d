import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { Statistics } from '../src/engine/statistics.js';
import { storesUnderTest } from './stores-under-test.js';

/** More servers than one query counts. */
const ACTIVE = 45_000;

describe.each(storesUnderTest(inject('postgresUrl')))('the number of servers, on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeEach(async () => {
    ({ store, close } = await open());
  });
  afterEach(() => close());

  const add = (state: string, from: number, count: number, deleted = 0) =>
    sql`with recursive numbers(n) as (select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(from + count - 1)})
      insert into servers (id, revision, data, vm_state, deleted, created_at)
      select cast(n as text), 0, '{}', ${state}, ${sql.lit(deleted)}, n / 100 from numbers`.execute(store.db);

  const statistics = () =>
    new Statistics(
      { store, worker: { pending: async () => 0 } as never, driver: {} as never },
      { latest: () => ({ hosts: [], report: undefined }) },
    );

  it('is counted exactly, state by state, without deleted ones', async () => {
    expect(await statistics().servers()).toEqual({});
    await add('active', 0, ACTIVE);
    await add('error', ACTIVE, 3);
    await add('active', 2 * ACTIVE, 5, 1);
    expect(await statistics().servers()).toEqual({ active: ACTIVE, error: 3 });
  });

  it('is cached for several seconds', async () => {
    const requested = statistics();
    const [first, second] = await Promise.all([requested.servers(), requested.servers()]);
    await add('active', 0, 1);
    expect([first, second, await requested.servers()]).toEqual([{}, {}, {}]);
  });
});
