import { afterEach, describe, expect, inject, it } from 'vitest';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { usageByHost } from '../src/scheduler/claims.js';
import { tables } from '../src/schema/tables.js';
import { ManualClock } from '../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))('the engine on $kind', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close());

  async function start(options: Parameters<typeof engineUnderTest>[0] = {}): Promise<void> {
    const url = await database();
    engine = await engineUnderTest({ database: url, ...options });
  }

  async function used() {
    const usage = [...(await usageByHost(coreOf(engine).store)).values()];
    return usage.reduce((sum, { vcpus, servers }) => ({ vcpus: sum.vcpus + vcpus, servers: sum.servers + servers }), {
      vcpus: 0,
      servers: 0,
    });
  }

  it('boots, stops, starts and deletes a server', async () => {
    await start();
    const context = contextOf('p1');
    const { servers } = await engine.servers.create(context, newServer);
    const id = servers[0]!.id;
    await engine.idle();
    expect(await engine.servers.get(context, id)).toMatchObject({
      vmState: 'active',
      taskState: null,
      powerState: 1,
      jobId: null,
    });
    await engine.servers.act(contextOf('p1'), id, 'os-stop');
    await engine.idle();
    expect(await engine.servers.get(context, id)).toMatchObject({ vmState: 'stopped', powerState: 4 });
    await expect(engine.servers.act(contextOf('p1'), id, 'os-stop')).rejects.toThrow(
      `Cannot 'stop' instance ${id} while it is in vm_state stopped`,
    );
    expect(await used()).toEqual({ vcpus: 1, servers: 1 });
    await engine.servers.delete(contextOf('p1'), id);
    await engine.idle();
    await expect(engine.servers.get(context, id)).rejects.toThrow('could not be found');
    expect(await used()).toEqual({ vcpus: 0, servers: 0 });
    expect(await coreOf(engine).worker.pending()).toBe(0);
    const history = await tables.actions.find(coreOf(engine).store, (q) =>
      q.where('server_id', '=', id).orderBy('seq'),
    );
    expect(history.map(({ action, message }) => [action, message])).toEqual([
      ['create', null],
      ['stop', null],
      ['delete', null],
    ]);
    expect(history[1]!.events).toMatchObject([{ name: 'compute_stop_instance', result: 'Success' }]);
  });

  it('shows each step while the driver works', async () => {
    const clock = new ManualClock();
    await start({ clock, driver: new SimulatedDriver({ clock, latencyMs: 1000 }) });
    const context = contextOf('p1');
    const { servers } = await engine.servers.create(context, newServer);
    const seen = new Set<string>();
    for (let i = 0; i < 60; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const server = await engine.servers.get(context, servers[0]!.id);
      seen.add(`${server.vmState}/${server.taskState}`);
      await clock.advance(500);
    }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'building/block_device_mapping',
        'building/networking',
        'building/spawning',
        'active/null',
      ]),
    );
  });

  it('sets a server to ERROR with a fault if no host is valid', async () => {
    await start({ settings: { quotas: { instances: -1, cores: -1, ram: -1 } as never } });
    const context = contextOf('p1');
    await engine.servers.create(context, { ...newServer, minCount: 129 });
    await engine.idle();
    const servers = await engine.servers.list(context, { limit: 1000 });
    const failed = servers.filter(({ vmState }) => vmState === 'error');
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({
      host: null,
      taskState: null,
      fault: { code: 500, message: expect.stringContaining('No valid host') },
    });
    expect(await used()).toEqual({ vcpus: 128, servers: 128 });
  });

  it('lets a deletion interrupt a build that hangs', async () => {
    const clock = new ManualClock();
    const driver = new SimulatedDriver({ clock, rules: [{ match: { verb: 'spawn' }, hang: true }] });
    await start({ clock, driver });
    const context = contextOf('p1');
    const { servers } = await engine.servers.create(context, newServer);
    await engine.servers.delete(contextOf('p1'), servers[0]!.id);
    await engine.idle();
    await expect(engine.servers.get(context, servers[0]!.id)).rejects.toThrow('could not be found');
    expect(await used()).toEqual({ vcpus: 0, servers: 0 });
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });

  it('accepts exactly as many concurrent servers as the quota allows', async () => {
    await start({ settings: { quotas: { instances: 7 } as never } });
    const context = contextOf('p1');
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, () => engine.servers.create(contextOf('p1'), newServer)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    await engine.idle();
    expect(await engine.servers.list(context, { limit: 1000 })).toHaveLength(7);
  });
});
