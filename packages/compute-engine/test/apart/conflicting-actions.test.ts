import { afterEach, describe, expect, inject, it } from 'vitest';
import { rulesOf } from '../../src/actions/action-table.js';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { tables } from '../../src/schema/tables.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { checkInvariants } from '../model/invariants.js';
import { type Random, randomOf } from '../model/random.js';
import { requests, type WalkedName } from '../model/requests.js';
import { storesUnderTest } from '../stores-under-test.js';

/** Actions on a running server that are mutually exclusive. */
const conflicting: readonly WalkedName[] = [
  'os-stop',
  'rebootSoft',
  'pause',
  'suspend',
  'rescue',
  'rebuild',
  'resize',
  'migrate',
  'createImage',
  'createBackup',
  'changePassword',
  'shelve',
  'os-migrateLive',
];

/** Replaces the random choices with fixed ones, so that each request on its own would succeed. */
const plain: Random = { next: () => 0, below: () => 1, chance: () => false, pick: (items) => items.at(-1)! };

const CLIENTS = 50;
const SEEDS = [1, 2, 3, 4, 5];

describe.each(storesUnderTest(inject('postgresUrl')))('fifty conflicting requests on $kind', ({ kind, database }) => {
  const engines: Engine[] = [];
  const drivers: SimulatedDriver[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    drivers.length = 0;
  });

  /** Starts one process on SQLite, or two processes that share the jobs on PostgreSQL. */
  async function start(): Promise<void> {
    const url = await database();
    for (let i = 0; i < (kind === 'PostgreSQL' ? 2 : 1); i++) {
      const driver = new SimulatedDriver({ clock: systemClock });
      drivers.push(driver);
      engines.push(await engineUnderTest({ database: url, driver, worker: { pollMs: 50 } }));
    }
  }

  it.each(SEEDS)('result in one success, and 409 for all others (seed %i)', async (seed) => {
    await start();
    const random = randomOf(seed);
    const [engine] = engines as [Engine];
    const owner = contextOf('p1');
    const { servers } = await engine.servers.create(owner, { name: 'web', flavorId: '1', imageId, networks: 'none' });
    const id = servers[0]!.id;
    await engine.idle();
    const rules = drivers.map((driver) => driver.addRule({ match: {}, hang: true }));

    const attempts = Array.from({ length: CLIENTS }, (_, i) => {
      const context = contextOf('p1', { isAdmin: true });
      const action = random.pick(conflicting);
      const request = requests[action]({ engine: engines[i % engines.length]!, context, id, random: plain });
      return { action, context, request };
    });
    const results = await Promise.allSettled(attempts.map(({ request }) => request));
    const won = attempts.filter((_, i) => results[i]!.status === 'fulfilled');
    expect(won.map(({ action }) => action)).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT', status: 409 });

    const history = await tables.actions.find(coreOf(engine).store, (q) =>
      q.where('server_id', '=', id).orderBy('seq'),
    );
    const { action, context } = won[0]!;
    expect(history.map((record) => [record.action, record.requestId])).toEqual([
      ['create', owner.requestId],
      [rulesOf(action).history, context.requestId],
    ]);
    for (const rule of rules) rule.remove();
    for (const each of engines) await each.idle();
    await checkInvariants(engine);
  });
});
