import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const admin = () => contextOf('p1', { isAdmin: true });
const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'host1' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))('an evacuation that fails, on $kind', ({ database }) => {
  let engine: Engine;
  let driver: SimulatedDriver;
  let id: string;
  beforeEach(async () => {
    const clock = new ManualClock();
    driver = new SimulatedDriver({ clock });
    engine = await engineUnderTest({ database: await database(), clock, driver });
    id = (await engine.servers.create(admin(), newServer)).servers[0]!.id;
    await engine.idle();
    const { service } = await engine.services.on('host1', 'nova-compute');
    await engine.services.update(service.id, { forcedDown: true });
  });
  afterEach(() => engine.close());

  const evacuated = async () => {
    await engine.servers.act(admin(), id, 'evacuate', { host: 'host2', sharedStorage: true, stop: true });
    await engine.idle();
    return engine.servers.get(admin(), id);
  };
  const used = async () => {
    const hypervisors = await engine.hypervisors.list({});
    return hypervisors.map(({ host, usage }) => [host.name, usage.vcpus]);
  };

  it.each(['evacuate', 'power_off'] as const)(
    'at %s leaves the server with its resources on its host, from which it can be evacuated again',
    async (verb) => {
      const before = await used();
      driver.addRule({ match: { verb }, fail: 'the disk is in use', times: 1 });
      expect(await evacuated()).toMatchObject({ vmState: 'error', host: 'host1', node: 'host1' });
      expect((await engine.servers.get(admin(), id)).claims.map(({ host }) => host)).toEqual(['host1']);
      expect(await used()).toEqual(before);
      expect((await engine.migrations.list({ serverId: id, newestFirst: true }))[0]).toMatchObject({
        status: 'failed',
      });
      expect(await evacuated()).toMatchObject({ vmState: 'stopped', host: 'host2', fault: null });
    },
  );
});
