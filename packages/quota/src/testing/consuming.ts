import assert from 'node:assert/strict';
import type { Amounts } from '../limits.js';
import type { QuotaStore } from '../store.js';
import { countsOf, type QuotaStoreSuite, reserveRequest, testOnFreshStore } from './suite.js';

/** Tests the method `consume` of stores that implement it. */
export function testConsuming(suite: QuotaStoreSuite): void {
  const test = testOnFreshStore(suite);
  /** Returns a shorthand for `consume`, or undefined if the store does not implement it. */
  const consumerOf = (store: QuotaStore) => {
    const consume = store.consume?.bind(store);
    return (
      consume && ((amounts: Amounts, defaults: Amounts = {}) => consume(reserveRequest('p', amounts, { defaults })))
    );
  };

  suite.describe('consume, if the store implements it', () => {
    test('counts amounts as used immediately, without a reservation', async ({ store, advance }) => {
      if (!store.consume) return;
      const request = reserveRequest('p', { secrets: 2, orders: 1 });
      assert.deepEqual(await store.consume(request), []);
      const expected = { secrets: { used: 2, reserved: 0 }, orders: { used: 1, reserved: 0 } };
      assert.deepEqual(await countsOf(store, 'p'), expected);
      assert.equal(await store.settle(request, 'release'), false);
      advance(120_000);
      await store.sweep();
      assert.deepEqual(await countsOf(store, 'p'), expected);
    });

    test("adds all amounts or none, and returns the kinds that exceed the project's own limit or else the default", async ({
      store,
    }) => {
      const consume = consumerOf(store);
      if (!consume) return;
      const defaults = { secrets: 3, orders: 5 };
      assert.deepEqual(await consume({ secrets: 2 }, defaults), []);
      assert.deepEqual(await consume({ secrets: 2, orders: 1 }, defaults), [
        { kind: 'secrets', requested: 2, used: 2, limit: 3 },
      ]);
      assert.deepEqual(await consume({ secrets: 2 }, defaults), [{ kind: 'secrets', requested: 2, used: 2, limit: 3 }]);
      await store.setLimits('p', { secrets: 4 });
      assert.deepEqual(await consume({ secrets: 2, orders: 5 }, defaults), []);
      assert.deepEqual(await countsOf(store, 'p'), {
        secrets: { used: 4, reserved: 0 },
        orders: { used: 5, reserved: 0 },
      });
      await store.setLimits('p', { secrets: -1 });
      assert.deepEqual(await consume({ secrets: Number.MAX_SAFE_INTEGER - 4 }, defaults), []);
      assert.equal((await consume({ secrets: 1 }, defaults)).length, 1);
    });

    test('counts reservations until they expire', async ({ store, advance }) => {
      const consume = consumerOf(store);
      if (!consume) return;
      const defaults = { secrets: 3, orders: 1 };
      await store.reserve(reserveRequest('p', { secrets: 2, orders: 1 }, { defaults, ttlMs: 1000 }));
      assert.deepEqual(await consume({ secrets: 2 }, defaults), [{ kind: 'secrets', requested: 2, used: 2, limit: 3 }]);
      advance(1000);
      assert.deepEqual(await consume({ secrets: 2 }, defaults), []);
      assert.deepEqual(await consume({ secrets: 1, orders: 1 }, defaults), []);
      assert.deepEqual(await countsOf(store, 'p'), {
        secrets: { used: 3, reserved: 0 },
        orders: { used: 1, reserved: 0 },
      });
    });

    test('admits exactly the limit, even with concurrent reservations', async ({ store }) => {
      const consume = consumerOf(store);
      if (!consume) return;
      const defaults = { secrets: 100 };
      const reserve = () => store.reserve(reserveRequest('p', { secrets: 1 }, { defaults }));
      const take = (index: number) => (index % 3 === 0 ? reserve() : consume({ secrets: 1 }, defaults));
      const responses = await Promise.all(Array.from({ length: 300 }, (_, index) => take(index)));
      assert.equal(responses.filter((exceeded) => exceeded.length === 0).length, 100);
      const { secrets } = await countsOf(store, 'p');
      assert.ok(secrets && secrets.used + secrets.reserved === 100, JSON.stringify(secrets));
    });
  });
}
