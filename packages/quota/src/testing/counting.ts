import assert from 'node:assert/strict';
import { countsOf, type QuotaStoreSuite, reserveRequest, testOnFreshStore, useAmounts } from './suite.js';

/** Tests the methods that change usage, without concurrency or expiry. */
export function testCounting(suite: QuotaStoreSuite): void {
  const test = testOnFreshStore(suite);

  suite.describe('counting', () => {
    test('reports no usage for a new project', async ({ store }) => {
      assert.deepEqual(await countsOf(store, 'new'), {});
    });

    test('counts a reservation as reserved, and as used after commit', async ({ store }) => {
      const reservation = reserveRequest('p', { secrets: 1, orders: 2 });
      assert.deepEqual(await store.reserve(reservation), []);
      assert.deepEqual(await countsOf(store, 'p'), {
        secrets: { used: 0, reserved: 1 },
        orders: { used: 0, reserved: 2 },
      });
      assert.equal(await store.settle(reservation, 'commit'), true);
      assert.deepEqual(await countsOf(store, 'p'), {
        secrets: { used: 1, reserved: 0 },
        orders: { used: 2, reserved: 0 },
      });
    });

    test('frees all reserved amounts on release', async ({ store }) => {
      const reservation = reserveRequest('p', { secrets: 3 });
      await store.reserve(reservation);
      assert.equal(await store.settle(reservation, 'release'), true);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('settles a reservation only once', async ({ store }) => {
      const reservation = reserveRequest('p', { secrets: 3 });
      await store.reserve(reservation);
      await store.settle(reservation, 'commit');
      assert.equal(await store.settle(reservation, 'commit'), false);
      assert.equal(await store.settle(reservation, 'release'), false);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 3, reserved: 0 } });
    });

    test('does not settle an unknown reservation', async ({ store }) => {
      assert.equal(await store.settle(reserveRequest('p', { secrets: 3 }), 'commit'), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('admits up to the default limit and returns the kinds that exceed it', async ({ store }) => {
      const defaults = { secrets: 3 };
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 2 }, { defaults })), []);
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 2 }, { defaults })), [
        { kind: 'secrets', requested: 2, used: 2, limit: 3 },
      ]);
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults })), []);
    });

    test('compares the sum of used and reserved with the limit', async ({ store }) => {
      const defaults = { secrets: 3 };
      await useAmounts(store, 'p', { secrets: 1 });
      await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults }));
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 2 }, { defaults })), [
        { kind: 'secrets', requested: 2, used: 2, limit: 3 },
      ]);
    });

    test('reserves several kinds together or not at all, and returns every kind that exceeds its limit', async ({
      store,
    }) => {
      const defaults = { secrets: 5, orders: 1, containers: 0 };
      const exceeded = await store.reserve(reserveRequest('p', { secrets: 1, orders: 2, containers: 1 }, { defaults }));
      assert.deepEqual(
        exceeded.toSorted((a, b) => a.kind.localeCompare(b.kind)),
        [
          { kind: 'containers', requested: 1, used: 0, limit: 0 },
          { kind: 'orders', requested: 2, used: 0, limit: 1 },
        ],
      );
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('releases used amounts, never below 0, and does not change reservations', async ({ store }) => {
      await useAmounts(store, 'p', { secrets: 5 });
      await store.reserve(reserveRequest('p', { secrets: 2 }));
      await store.release('p', { secrets: 3 });
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 2, reserved: 2 } });
      await store.release('p', { secrets: 9, orders: 1 });
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 0, reserved: 2 } });
    });

    test('ignores amounts released by a project without usage', async ({ store }) => {
      await store.release('p', { secrets: 3 });
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('recounts one kind, even in an unknown project, and changes nothing else', async ({ store }) => {
      await store.recount('p', 'secrets', 7);
      await store.reserve(reserveRequest('p', { secrets: 1, orders: 1 }));
      await store.recount('p', 'secrets', 4);
      assert.deepEqual(await countsOf(store, 'p'), {
        secrets: { used: 4, reserved: 1 },
        orders: { used: 0, reserved: 1 },
      });
    });

    test('counts up to the largest safe integer, and rejects more', async ({ store }) => {
      const max = Number.MAX_SAFE_INTEGER;
      await useAmounts(store, 'p', { secrets: max });
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: max, reserved: 0 } });
      assert.equal((await store.reserve(reserveRequest('p', { secrets: 1 }))).length, 1);
      assert.equal((await store.reserve(reserveRequest('p', { secrets: max }))).length, 1);
    });

    test('separates projects, regardless of the characters in their ids', async ({ store }) => {
      const names = ['__proto__', 'constructor', 'a', 'A', 'a ', ' a', 'a:b', 'a/b', '{a}', '%', "'", '"', '\\', '\n'];
      names.push('é', 'e\u0301', '\u{1f600}', 'x'.repeat(255), 'x'.repeat(256), '\uffff'.repeat(512), '*', '?', '[a]');
      for (const [index, name] of names.entries()) {
        await useAmounts(store, name, { secrets: index + 1 });
        await store.setLimits(name, { orders: index });
      }
      for (const [index, name] of names.entries()) {
        assert.deepEqual(await countsOf(store, name), { secrets: { used: index + 1, reserved: 0 } }, name);
        assert.deepEqual({ ...(await store.getLimits(name)) }, { orders: index }, name);
      }
      const listed = await store.listLimits({ limit: 100, offset: 0 });
      assert.deepEqual(
        listed.entries.map(({ project }) => project),
        names,
      );
    });
  });
}
