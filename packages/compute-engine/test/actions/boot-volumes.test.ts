import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('volumes created for a server on $kind', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close());

  const boot = {
    name: 'from-volume',
    flavorId: '1',
    networks: 'none',
    imageId: '',
    devices: [
      { source: 'image', destination: 'volume', sourceId: imageId, bootIndex: 0, size: 1, deleteOnTermination: true },
    ],
  } as never;

  async function start(rules: ConstructorParameters<typeof SimulatedDriver>[0]['rules']): Promise<void> {
    const url = await database();
    engine = await engineUnderTest({ database: url, driver: new SimulatedDriver({ clock: systemClock, rules }) });
  }

  const volumes = () => engine.embedded.volumes.listVolumes(contextOf('p1').caller);

  it('are deleted with a server whose build fails', async () => {
    await start([{ match: { verb: 'spawn' }, fail: 'no luck' }]);
    const { servers } = await engine.servers.create(contextOf('p1'), boot);
    await engine.idle();
    expect(await engine.servers.get(contextOf('p1'), servers[0]!.id)).toMatchObject({ vmState: 'error' });
    await engine.servers.delete(contextOf('p1'), servers[0]!.id);
    await engine.idle();
    expect(await volumes()).toEqual([]);
  });

  it('are deleted with a server that is deleted during its build', async () => {
    await start([{ match: { verb: 'spawn' }, hang: true }]);
    const { servers } = await engine.servers.create(contextOf('p1'), boot);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await engine.servers.delete(contextOf('p1'), servers[0]!.id);
    await engine.idle();
    expect(await volumes()).toEqual([]);
  });
});
