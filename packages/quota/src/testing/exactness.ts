import assert from 'node:assert/strict';
import type { Amounts } from '../limits.js';
import { countsOf, type QuotaStoreSuite, reserveRequest, testOnFreshStore } from './suite.js';

/** Tests that limits are exact with concurrent calls. */
export function testExactness(suite: QuotaStoreSuite): void {
  const test = testOnFreshStore(suite);

  suite.describe('concurrent calls', () => {
    test('admit exactly the limit', async ({ store }) => {
      const reservations = Array.from({ length: 300 }, () =>
        reserveRequest('p', { secrets: 1 }, { defaults: { secrets: 100 } }),
      );
      const responses = await Promise.all(
        reservations.map(async (reservation) => ({ reservation, exceeded: await store.reserve(reservation) })),
      );
      const admitted = responses.flatMap(({ reservation, exceeded }) => (exceeded.length === 0 ? [reservation] : []));
      assert.equal(admitted.length, 100);
      const committed = await Promise.all(admitted.map((reservation) => store.settle(reservation, 'commit')));
      assert.ok(committed.every(Boolean));
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 100, reserved: 0 } });
    });

    test('never exceed a limit with mixed amounts of several kinds', async ({ store }) => {
      const defaults = { secrets: 40, orders: 25 };
      const reservations = Array.from({ length: 120 }, (_, index) => {
        const amounts: Amounts =
          index % 3 === 0 ? { secrets: 1 + (index % 4) } : { orders: 1, secrets: index % 2 || 2 };
        return reserveRequest(`p${index % 2}`, amounts, { defaults });
      });
      await Promise.all(reservations.map((reservation) => store.reserve(reservation)));
      for (const project of ['p0', 'p1']) {
        const { secrets, orders } = await countsOf(store, project);
        assert.ok(secrets && secrets.reserved <= 40 && secrets.reserved > 36, `${secrets?.reserved}`);
        assert.ok(orders && orders.reserved <= 25, `${orders?.reserved}`);
      }
    });

    test('either commit or release a reservation, not both', async ({ store }) => {
      for (let round = 0; round < 20; round++) {
        const reservation = reserveRequest('p', { secrets: 1 }, { ttlMs: 60_000 });
        await store.reserve(reservation);
        const settled = await Promise.all([store.settle(reservation, 'commit'), store.settle(reservation, 'release')]);
        assert.equal(settled.filter(Boolean).length, 1);
        const expected = settled[0] ? { secrets: { used: 1, reserved: 0 } } : {};
        assert.deepEqual(await countsOf(store, 'p'), expected);
        await store.recount('p', 'secrets', 0);
      }
    });

    test('leave no usage after all reservations are settled and all used amounts released', async ({ store }) => {
      const pairs = [
        ['secrets', 'orders'],
        ['orders', 'containers'],
        ['containers', 'secrets'],
      ] as const;
      const rounds = Array.from({ length: 30 }, () => pairs).flat();
      const work = rounds.map(async ([first, second], index) => {
        const reservation = reserveRequest('p', { [first]: 1, [second]: 2 });
        assert.deepEqual(await store.reserve(reservation), []);
        const commit = index % 2 === 0;
        assert.equal(await store.settle(reservation, commit ? 'commit' : 'release'), true);
        if (commit) await store.release('p', reservation.amounts);
      });
      await Promise.all(work);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });
  });
}
