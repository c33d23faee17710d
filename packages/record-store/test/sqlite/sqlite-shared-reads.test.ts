import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { hotStatement } from '../../src/batching/hot-statement.js';
import { defaultDatabaseSettings } from '../../src/options/database-settings.js';
import { openStore } from '../open-store.js';
import { tables } from '../tables.js';

const plus = hotStatement<{ readonly value: number }>(({ db }) =>
  db.selectNoFrom(sql<number>`json_extract(${''}, '$.n') + 1`.as('value')),
);

it('executes frequent queries together, and transactions in between', async () => {
  const store = await openStore(':memory:', defaultDatabaseSettings);
  onTestFinished(() => store.close());
  const group = (id: string) => ({ id, projectId: 'p', userId: 'u', name: id });
  for (let round = 0; round < 3; round++) {
    const reads = [1, 2, 'x', 3].map((n) => plus(store, [n === 'x' ? 'not JSON' : JSON.stringify({ n })]));
    const write = store.transaction((tx) => tables.serverGroups.insert(tx, group(`g${round}`)));
    const [one, two, invalid, three, written] = await Promise.allSettled([...reads, write]);
    for (const [outcome, value] of [
      [one, 2],
      [two, 3],
      [three, 4],
    ] as const)
      expect(outcome).toMatchObject({ status: 'fulfilled', value: { rows: [{ value }] } });
    expect([invalid?.status, written?.status]).toEqual(['rejected', 'fulfilled']);
  }
  expect(await tables.serverGroups.count(store)).toBe(3);
});

it('fails as unavailable after the database was closed', async () => {
  const store = await openStore(':memory:', defaultDatabaseSettings);
  await store.close();
  const reads = [plus(store, ['{}']), tables.serverGroups.get(store, 'g'), tables.serverGroups.count(store)];
  for (const outcome of await Promise.allSettled(reads))
    expect(outcome).toMatchObject({ reason: { code: 'DATABASE_UNAVAILABLE', failure: 'unreachable' } });
});
