import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import { type RuleHandle, SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Rule } from '../../src/drivers/simulated-rules.js';
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

  const volumes = () => engine.embedded.volumes.listVolumes(contextOf('p1').caller);

  /** Creates a server whose machine waits for the rule, and whose volume exists. */
  async function startBuild(rule: Partial<Rule>): Promise<{ id: string; hanging: RuleHandle }> {
    const driver = new SimulatedDriver({ clock: systemClock });
    const hanging = driver.addRule({ match: { verb: 'spawn' }, hang: true, ...rule });
    engine = await engineUnderTest({ database: await database(), driver });
    const { servers } = await engine.servers.create(contextOf('p1'), boot);
    await expect.poll(() => hanging.calls).toBe(1);
    expect(await volumes()).toHaveLength(1);
    return { id: servers[0]!.id, hanging };
  }

  it('are deleted when the build of the server fails', async () => {
    const { id, hanging } = await startBuild({ fail: 'no luck' });
    hanging.release();
    await engine.idle();
    expect(await engine.servers.get(contextOf('p1'), id)).toMatchObject({ vmState: 'error' });
    expect(await volumes()).toEqual([]);
  });

  it('are deleted with a server that is deleted during its build', async () => {
    const { id } = await startBuild({});
    await engine.servers.delete(contextOf('p1'), id);
    await engine.idle();
    expect(await volumes()).toEqual([]);
  });
});
