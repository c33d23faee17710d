import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';
import { checkInvariants } from './invariants.js';

const networkId = defaultPreset.networks![0]!.id;

describe.each(storesUnderTest(inject('postgresUrl')))('work that hangs, on $kind', ({ kind, database }) => {
  const engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  it.each([
    ['a deletion', (engine: Engine, id: string) => engine.servers.delete(contextOf('p1'), id), 'deleted'],
    [
      'a reset of the state',
      (engine: Engine, id: string) =>
        engine.servers.act(contextOf('p1', { isAdmin: true }), id, 'os-resetState', { state: 'active' }),
      'active',
    ],
  ])('ends when %s takes over the server, even in another process', async (_what, takeOver, vmState) => {
    const url = await database();
    const drivers: SimulatedDriver[] = [];
    for (let i = 0; i < (kind === 'PostgreSQL' ? 2 : 1); i++) {
      const rules = [{ match: { verb: 'reboot' as const }, hang: true as const }];
      const driver = new SimulatedDriver({ clock: systemClock, rules });
      drivers.push(driver);
      engines.push(await engineUnderTest({ database: url, driver, worker: { pollMs: 50 } }));
    }
    const [here, there = here] = engines as [Engine, Engine?];
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const { servers } = await here.servers.create(contextOf('p1'), newServer);
    await here.idle();
    await here.servers.act(contextOf('p1'), servers[0]!.id, 'rebootHard');
    const calls = () => drivers.flatMap(({ rules }) => rules).reduce((sum, rule) => sum + rule.calls, 0);
    await expect.poll(calls).toBe(1);
    await takeOver(there, servers[0]!.id);
    for (const engine of engines) await engine.idle();
    const server = await here.servers.get(contextOf('p1'), servers[0]!.id, { deleted: true });
    expect(server).toMatchObject({ vmState, taskState: null, jobId: null });
    expect(calls()).toBe(1);
    await checkInvariants(here);
  });

  it('leaves the ports on the host of the server, if they were moving at that time', async () => {
    const engine = await engineUnderTest({ database: await database(), settings: { shelvedOffloadSeconds: 0 } });
    engines.push(engine);
    const { movePorts } = engine.embedded.networks;
    let release: (() => void) | undefined;
    const moveLater: typeof movePorts = async (caller, deviceId, hostId) => {
      if (hostId === '')
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return movePorts(caller, deviceId, hostId);
    };
    Object.assign(engine.catalogs, { networks: { ...engine.embedded.networks, movePorts: moveLater } });
    const newServer = { name: 'web', flavorId: '1', imageId, networks: [{ networkId }] } as const;
    const { servers } = await engine.servers.create(contextOf('p1'), newServer);
    await engine.idle();
    await engine.servers.act(contextOf('p1'), servers[0]!.id, 'shelve');
    await eventually(() => expect(release).toBeDefined());
    const admin = contextOf('p1', { isAdmin: true });
    await engine.servers.act(admin, servers[0]!.id, 'os-resetState', { state: 'active' });
    await eventually(async () =>
      expect(await engine.servers.get(admin, servers[0]!.id)).toMatchObject({ jobId: null }),
    );
    release?.();
    await engine.idle();
    await checkInvariants(engine);
  });
});
