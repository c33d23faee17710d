import assert from 'node:assert/strict';
import type { Amounts } from '../limits.js';
import { countsOf, onFreshStore, type QuotaStoreSuite, request } from './suite.js';

/** Many requests at once. */
export function testExactness(suite: QuotaStoreSuite): void {
  const test = onFreshStore(suite);

  suite.describe('many at once', () => {
    test('admits exactly as many as the limit allows', async ({ store }) => {
      const holds = Array.from({ length: 300 }, () => request('p', { secrets: 1 }, { defaults: { secrets: 100 } }));
      const answers = await Promise.all(holds.map((hold) => store.reserve(hold)));
      const admitted = holds.filter((_, index) => answers[index]!.length === 0);
      assert.equal(admitted.length, 100);
      const committed = await Promise.all(admitted.map((hold) => store.settle(hold, 'commit')));
      assert.ok(committed.every(Boolean));
      assert.deepEqual(await countsOf(store, 'p'), { secrets: { used: 100, reserved: 0 } });
    });

    test('mixed amounts of several kinds never exceed any limit', async ({ store }) => {
      const defaults = { secrets: 40, orders: 25 };
      const holds = Array.from({ length: 120 }, (_, index) => {
        const amounts: Amounts =
          index % 3 === 0 ? { secrets: 1 + (index % 4) } : { orders: 1, secrets: index % 2 || 2 };
        return request(`p${index % 2}`, amounts, { defaults });
      });
      await Promise.all(holds.map((hold) => store.reserve(hold)));
      for (const project of ['p0', 'p1']) {
        const counts = await countsOf(store, project);
        assert.ok(counts.secrets!.reserved <= 40 && counts.secrets!.reserved > 36, `${counts.secrets!.reserved}`);
        assert.ok(counts.orders!.reserved <= 25, `${counts.orders!.reserved}`);
      }
    });

    test('a reservation that is committed and released at once ends in one of both ways', async ({ store }) => {
      for (let round = 0; round < 20; round++) {
        const hold = request('p', { secrets: 1 }, { ttlMs: 60_000 });
        await store.reserve(hold);
        const settled = await Promise.all([store.settle(hold, 'commit'), store.settle(hold, 'release')]);
        assert.equal(settled.filter(Boolean).length, 1);
        const expected = settled[0] ? { secrets: { used: 1, reserved: 0 } } : {};
        assert.deepEqual(await countsOf(store, 'p'), expected);
        await store.recount('p', 'secrets', 0);
      }
    });

    test('taking, settling and giving back all at once ends at nothing', async ({ store }) => {
      const kinds = ['secrets', 'orders', 'containers'];
      const work = Array.from({ length: 90 }, async (_, index) => {
        const first = kinds[index % 3]!;
        const hold = request('p', { [first]: 1, [kinds[(index + 1) % 3]!]: 2 });
        assert.deepEqual(await store.reserve(hold), []);
        const commit = index % 2 === 0;
        assert.equal(await store.settle(hold, commit ? 'commit' : 'release'), true);
        if (commit) await store.giveBack('p', hold.amounts);
      });
      await Promise.all(work);
      assert.deepEqual(await countsOf(store, 'p'), {});
    });
  });
}
