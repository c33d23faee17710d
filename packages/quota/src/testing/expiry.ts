import assert from 'node:assert/strict';
import { countsOf, onFreshStore, type QuotaStoreSuite, request, use } from './suite.js';

/** The time-to-live of reservations. */
export function testExpiry(suite: QuotaStoreSuite): void {
  const test = onFreshStore(suite);

  suite.describe('expiry', () => {
    test('a reservation holds until its time-to-live ends', async ({ store, advance }) => {
      const hold = request('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(hold);
      advance(999);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 0, reserved: 1 } });
      assert.equal(await store.settle(hold, 'commit'), true);
    });

    test('an expired reservation counts no more and cannot be settled', async ({ store, advance }) => {
      const hold = request('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(hold);
      advance(1000);
      assert.deepEqual(await countsOf(store, 'p'), {});
      assert.equal(await store.settle(hold, 'commit'), false);
      assert.equal(await store.settle(hold, 'release'), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('an expired reservation that nobody has looked at since cannot be settled or renewed', async (bench) => {
      const { store, advance } = bench;
      const reserved = async (secrets: number) => {
        const hold = request('p', { secrets }, { ttlMs: 1000 });
        await store.reserve(hold);
        return hold;
      };
      const [first, second, third] = [await reserved(1), await reserved(2), await reserved(3)];
      advance(1000);
      assert.equal(await store.settle(first, 'commit'), false);
      assert.equal(await store.settle(second, 'release'), false);
      assert.equal(await store.renew(third, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('what an expired reservation held can be taken by the next', async ({ store, advance }) => {
      const defaults = { secrets: 2, orders: 2 };
      await store.reserve(request('p', { secrets: 2, orders: 1 }, { defaults, ttlMs: 1000 }));
      advance(999);
      assert.equal((await store.reserve(request('p', { secrets: 1 }, { defaults }))).length, 1);
      advance(1);
      assert.deepEqual(await store.reserve(request('p', { secrets: 2 }, { defaults })), []);
      assert.deepEqual(await store.reserve(request('p', { orders: 2 }, { defaults })), []);
    });

    test('expired reservations are not reported as used', async ({ store, advance }) => {
      const defaults = { secrets: 2 };
      await store.reserve(request('p', { secrets: 1 }, { defaults, ttlMs: 1000 }));
      await store.reserve(request('p', { secrets: 1 }, { defaults, ttlMs: 5000 }));
      advance(1000);
      assert.deepEqual(await store.reserve(request('p', { secrets: 2 }, { defaults })), [
        { kind: 'secrets', requested: 2, used: 1, limit: 2 },
      ]);
    });

    test('a renewed reservation holds from then on', async ({ store, advance }) => {
      const hold = request('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(hold);
      advance(900);
      assert.equal(await store.renew(hold, 1000), true);
      advance(900);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 0, reserved: 1 } });
      advance(100);
      assert.equal(await store.renew(hold, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('what is settled cannot be renewed', async ({ store }) => {
      const hold = request('p', { secrets: 1 });
      await store.reserve(hold);
      await store.settle(hold, 'commit');
      assert.equal(await store.renew(hold, 1000), false);
    });

    test('sweeping frees expired reservations of every project and touches nothing else', async ({
      store,
      advance,
    }) => {
      for (const project of ['a', 'b', 'c']) {
        await store.reserve(request(project, { secrets: 1, orders: 1 }, { ttlMs: 1000 }));
        await store.reserve(request(project, { secrets: 4 }, { ttlMs: 5000 }));
        await use(store, project, { secrets: 2 });
      }
      advance(1000);
      await store.sweep();
      await store.sweep();
      for (const project of ['a', 'b', 'c']) {
        assert.deepEqual(await countsOf(store, project), { secrets: { used: 2, reserved: 4 } });
      }
    });

    test('an expired reservation stays gone after sweeping', async ({ store, advance }) => {
      const hold = request('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(hold);
      advance(1000);
      await store.sweep();
      assert.equal(await store.settle(hold, 'commit'), false);
      assert.equal(await store.renew(hold, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });
  });
}
