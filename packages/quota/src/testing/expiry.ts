import assert from 'node:assert/strict';
import { countsOf, type QuotaStoreSuite, reserveRequest, testOnFreshStore, useAmounts } from './suite.js';

/** Tests the time-to-live of reservations. */
export function testExpiry(suite: QuotaStoreSuite): void {
  const test = testOnFreshStore(suite);

  suite.describe('expiry', () => {
    test('counts a reservation until its time-to-live ends', async ({ store, advance }) => {
      const reservation = reserveRequest('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(reservation);
      advance(999);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 0, reserved: 1 } });
      assert.equal(await store.settle(reservation, 'commit'), true);
    });

    test('neither counts nor settles an expired reservation', async ({ store, advance }) => {
      const reservation = reserveRequest('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(reservation);
      advance(1000);
      assert.deepEqual(await countsOf(store, 'p'), {});
      assert.equal(await store.settle(reservation, 'commit'), false);
      assert.equal(await store.settle(reservation, 'release'), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('neither settles nor renews an expired reservation that no call has removed yet', async (context) => {
      const { store, advance } = context;
      const reserved = async (secrets: number) => {
        const reservation = reserveRequest('p', { secrets }, { ttlMs: 1000 });
        await store.reserve(reservation);
        return reservation;
      };
      const [first, second, third] = [await reserved(1), await reserved(2), await reserved(3)];
      advance(1000);
      assert.equal(await store.settle(first, 'commit'), false);
      assert.equal(await store.settle(second, 'release'), false);
      assert.equal(await store.renew(third, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('makes the amounts of an expired reservation available to the next request', async ({ store, advance }) => {
      const defaults = { secrets: 2, orders: 2 };
      await store.reserve(reserveRequest('p', { secrets: 2, orders: 1 }, { defaults, ttlMs: 1000 }));
      advance(999);
      assert.equal((await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults }))).length, 1);
      advance(1);
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 2 }, { defaults })), []);
      assert.deepEqual(await store.reserve(reserveRequest('p', { orders: 2 }, { defaults })), []);
    });

    test('does not report expired reservations as used', async ({ store, advance }) => {
      const defaults = { secrets: 2 };
      await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults, ttlMs: 1000 }));
      await store.reserve(reserveRequest('p', { secrets: 1 }, { defaults, ttlMs: 5000 }));
      advance(1000);
      assert.deepEqual(await store.reserve(reserveRequest('p', { secrets: 2 }, { defaults })), [
        { kind: 'secrets', requested: 2, used: 1, limit: 2 },
      ]);
    });

    test('restarts the time-to-live on renewal', async ({ store, advance }) => {
      const reservation = reserveRequest('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(reservation);
      advance(900);
      assert.equal(await store.renew(reservation, 1000), true);
      advance(900);
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 0, reserved: 1 } });
      advance(100);
      assert.equal(await store.renew(reservation, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });

    test('does not renew a settled reservation', async ({ store }) => {
      const reservation = reserveRequest('p', { secrets: 1 });
      await store.reserve(reservation);
      await store.settle(reservation, 'commit');
      assert.equal(await store.renew(reservation, 1000), false);
    });

    test('removes only expired reservations, of every project, in a sweep', async ({ store, advance }) => {
      for (const project of ['a', 'b', 'c']) {
        await store.reserve(reserveRequest(project, { secrets: 1, orders: 1 }, { ttlMs: 1000 }));
        await store.reserve(reserveRequest(project, { secrets: 4 }, { ttlMs: 5000 }));
        await useAmounts(store, project, { secrets: 2 });
      }
      advance(1000);
      await store.sweep();
      await store.sweep();
      for (const project of ['a', 'b', 'c']) {
        assert.deepEqual(await countsOf(store, project), { secrets: { used: 2, reserved: 4 } });
      }
    });

    test('does not settle an expired reservation after a sweep', async ({ store, advance }) => {
      const reservation = reserveRequest('p', { secrets: 1 }, { ttlMs: 1000 });
      await store.reserve(reservation);
      advance(1000);
      await store.sweep();
      assert.equal(await store.settle(reservation, 'commit'), false);
      assert.equal(await store.renew(reservation, 1000), false);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });
  });
}
