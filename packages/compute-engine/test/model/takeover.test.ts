import { afterEach, describe, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';
import { checkInvariants } from './invariants.js';

describe.each(storesUnderTest(inject('postgresUrl')))('work that hangs, on $kind', ({ kind, database }) => {
  const engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  it.each([
    ['a deletion', (engine: Engine, id: string) => engine.servers.delete(contextOf('p1'), id)],
    [
      'a reset of the state',
      (engine: Engine, id: string) =>
        engine.servers.act(contextOf('p1', { isAdmin: true }), id, 'os-resetState', { state: 'active' }),
    ],
  ])('ends when %s takes over the server, also in another process', async (_what, takeOver) => {
    const url = await database();
    for (let i = 0; i < (kind === 'PostgreSQL' ? 2 : 1); i++) {
      const rules = [{ match: { verb: 'reboot' as const }, hang: true as const }];
      const driver = new SimulatedDriver({ clock: systemClock, rules });
      engines.push(await engineUnderTest({ database: url, driver, worker: { pollMs: 50 } }));
    }
    const [here, there = here] = engines as [Engine, Engine?];
    const expected = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const { servers } = await here.servers.create(contextOf('p1'), expected);
    await here.idle();
    await here.servers.act(contextOf('p1'), servers[0]!.id, 'rebootHard');
    await takeOver(there, servers[0]!.id);
    for (const engine of engines) await engine.idle();
    await checkInvariants(here);
  });
});
