import assert from 'node:assert/strict';
import { countsOf, type QuotaStoreSuite, reserveRequest, testOnFreshStore, useAmounts } from './suite.js';

/** Tests projects' own limits. */
export function testOwnLimits(suite: QuotaStoreSuite): void {
  const test = testOnFreshStore(suite);

  suite.describe('limits', () => {
    test('returns no limits for a project without an entry, and false on removal', async ({ store }) => {
      assert.equal(await store.getLimits('p'), undefined);
      assert.equal(await store.removeLimits('p'), false);
    });

    test('counts an empty record as an entry', async ({ store }) => {
      await store.setLimits('p', {});
      assert.deepEqual({ ...(await store.getLimits('p')) }, {});
      assert.equal((await store.listLimits({ limit: 10, offset: 0 })).total, 1);
      assert.equal(await store.removeLimits('p'), true);
      assert.equal(await store.getLimits('p'), undefined);
    });

    test('replaces the whole record on set', async ({ store }) => {
      await store.setLimits('p', { secrets: 1, orders: 2 });
      await store.setLimits('p', { orders: 3 });
      assert.deepEqual({ ...(await store.getLimits('p')) }, { orders: 3 });
    });

    test('keeps limits up to 2^63-1 exactly', async ({ store }) => {
      const limits = { secrets: 9223372036854775807n, orders: 9007199254740993n, cas: Number.MAX_SAFE_INTEGER };
      await store.setLimits('p', { ...limits, containers: -1, consumers: 0 });
      assert.deepEqual({ ...(await store.getLimits('p')) }, { ...limits, containers: -1, consumers: 0 });
      assert.deepEqual(
        await store.reserve(reserveRequest('p', { secrets: 10, orders: 10 }, { defaults: { secrets: 1 } })),
        [],
      );
    });

    test("applies a project's own limit, higher or lower than the default, to the next request", async ({ store }) => {
      const defaults = { secrets: 2, orders: 2 };
      await store.setLimits('p', { secrets: 4, orders: 1 });
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 4, orders: 1 }, { defaults })), []);
      assert.equal((await store.reserve(reserveRequest('p', { orders: 1 }, { defaults }))).length, 1);
      await store.setLimits('p', { orders: -1 });
      assert.deepEqual(await store.reserve(reserveRequest('p', { orders: 100 }, { defaults })), []);
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults })), [
        { kind: 'secrets', requested: 1, used: 4, limit: 2 },
      ]);
    });

    test('applies the default again after the entry is removed', async ({ store }) => {
      const defaults = { secrets: 1 };
      await store.setLimits('p', { secrets: 0 });
      assert.equal((await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults }))).length, 1);
      await store.removeLimits('p');
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults })), []);
    });

    test('keeps usage above a lowered limit and rejects the next request', async ({ store }) => {
      await useAmounts(store, 'p', { secrets: 5 });
      const single = reserveRequest('p', { secrets: 1 });
      await store.reserve(single);
      await store.setLimits('p', { secrets: 2 });
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 1 })), [
        { kind: 'secrets', requested: 1, used: 6, limit: 2 },
      ]);
      assert.equal(await store.settle(single, 'commit'), true);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 6, reserved: 0 } });
    });

    test('does not change usage when limits are removed', async ({ store }) => {
      await store.setLimits('p', { secrets: 9 });
      await useAmounts(store, 'p', { secrets: 5 });
      await store.removeLimits('p');
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 5, reserved: 0 } });
    });

    test('lists entries oldest first: an updated entry keeps its position, a re-created one is last', async ({
      store,
    }) => {
      for (const project of ['b', 'a', 'c']) await store.setLimits(project, { secrets: 1 });
      await store.setLimits('b', { secrets: 2 });
      await store.removeLimits('a');
      await store.setLimits('a', { orders: 3 });
      const { entries, total } = await store.listLimits({ limit: 10, offset: 0 });
      assert.equal(total, 3);
      assert.deepEqual(
        entries.map(({ project, limits }) => ({ project, limits: { ...limits } })),
        [
          { project: 'b', limits: { secrets: 2 } },
          { project: 'c', limits: { secrets: 1 } },
          { project: 'a', limits: { orders: 3 } },
        ],
      );
    });

    test('pages through the list, and past its end', async ({ store }) => {
      for (const project of ['a', 'b', 'c', 'd', 'e']) await store.setLimits(project, {});
      const page = async (offset: number, limit: number) => {
        const { entries, total } = await store.listLimits({ offset, limit });
        return [entries.map(({ project }) => project).join(''), total];
      };
      assert.deepEqual(await page(0, 2), ['ab', 5]);
      assert.deepEqual(await page(2, 2), ['cd', 5]);
      assert.deepEqual(await page(4, 2), ['e', 5]);
      assert.deepEqual(await page(5, 2), ['', 5]);
      assert.deepEqual(await page(Number.MAX_SAFE_INTEGER, 2), ['', 5]);
    });
  });
}
