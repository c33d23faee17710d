import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkCatalog, VolumeCatalog } from '@apistrata/catalogs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const networkId = defaultPreset.networks![0]!.id;
const context = () => contextOf('p1');
const { caller } = context();

/** What the request that asks this never hears: the process is gone. */
class ProcessDied extends Error {}

/** The method as it is, and the process dies after (or before) it. */
function dying<T extends object>(catalog: T, method: keyof T, when: 'before' | 'after'): T {
  return {
    ...catalog,
    [method]: async (...args: unknown[]) => {
      if (when === 'after') await (catalog[method] as (...given: unknown[]) => Promise<unknown>)(...args);
      throw new ProcessDied('the process is gone');
    },
  };
}

describe.each(storesUnderTest(inject('postgresUrl')))("beside a server's own jobs, on $kind,", ({ open }) => {
  let engine: Engine;
  let driver: SimulatedDriver;
  let url: string;
  let folder: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const opened = await open();
    ({ close } = opened);
    folder = await mkdtemp(join(tmpdir(), 'apistrata-concurrent-actions-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
    engine = await engineUnderTest({
      database: url,
      driver: (clock) => (driver = new SimulatedDriver({ clock })),
      settings: { quotas: { instances: -1, cores: -1, ram: -1 } as never },
      worker: { pollMs: 20, retryMs: 100 },
    });
  });
  afterEach(async () => {
    await engine.close();
    await close();
    await rm(folder, { recursive: true });
  });

  async function boot(): Promise<Server> {
    const { servers } = await engine.servers.create(context(), {
      name: 'web',
      flavorId: '1',
      imageId,
      networks: [{ networkId }],
    });
    await engine.idle();
    return engine.servers.get(context(), servers[0]!.id);
  }

  const fresh = (id: string) => engine.servers.get(context(), id, { deleted: true });
  const newVolume = async () =>
    (await engine.embedded.volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 })).id;
  const volume = (id: string) => engine.embedded.volumes.getVolume(caller, id);
  const wanted = (volumeId: string) => ({ volumeId, toShelved: true, multiattach: true });
  const attach = async (server: Server, volumeId: string) => {
    await engine.servers.act(context(), server.id, 'attachVolume', wanted(volumeId));
    await engine.idle();
    return fresh(server.id);
  };
  const volumesOf = ({ blockDevices }: Server) => blockDevices.flatMap(({ volumeId }) => volumeId ?? []);
  const portIds = async (server: Server) =>
    (await engine.embedded.networks.listPorts(caller, { deviceIds: [server.id] })).map(({ id }) => id);

  /** The same cloud with catalogs that fail; its requests write into the same database. */
  function withCatalogs(catalogs: { readonly volumes?: VolumeCatalog; readonly networks?: NetworkCatalog }): Engine {
    Object.assign(engine.catalogs, catalogs);
    return engine;
  }

  const original = () => ({ volumes: engine.embedded.volumes, networks: engine.embedded.networks });

  /** The guards of requests that never came to their end do their work. */
  async function guardsWakeUp(): Promise<void> {
    withCatalogs(original());
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
  }

  it.each(['before', 'after'] as const)(
    'a volume is attached to the end when the process dies %s reserving it',
    async (when) => {
      const server = await boot();
      const volumeId = await newVolume();
      withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'reserve', when) });
      await expect(attach(server, volumeId)).rejects.toThrow(ProcessDied);
      await guardsWakeUp();
      expect(volumesOf(await fresh(server.id))).toEqual([volumeId]);
      expect(await volume(volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: server.id }] });
      expect((await volume(volumeId)).attachments).toHaveLength(1);
    },
  );

  it.each(['before', 'after'] as const)(
    'a volume is free when the process dies %s reserving it, and the server is deleted then',
    async (when) => {
      const server = await boot();
      const volumeId = await newVolume();
      withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'reserve', when) });
      await expect(attach(server, volumeId)).rejects.toThrow(ProcessDied);
      withCatalogs(original());
      await engine.servers.delete(context(), server.id);
      await engine.idle();
      await guardsWakeUp();
      expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
    },
  );

  it.each(['before', 'after'] as const)('a volume is detached when the process dies %s saying so', async (when) => {
    const volumeId = await newVolume();
    const server = await attach(await boot(), volumeId);
    withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'beginDetaching', when) });
    await expect(engine.servers.act(context(), server.id, 'detachVolume', { volumeId })).rejects.toThrow(ProcessDied);
    await guardsWakeUp();
    expect(volumesOf(await fresh(server.id))).toEqual([]);
    expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
  });

  it.each(['before', 'after'] as const)('no port is left when the process dies %s making it', async (when) => {
    const server = await boot();
    const before = await portIds(server);
    withCatalogs({
      networks: {
        ...dying<NetworkCatalog>(engine.embedded.networks, 'createPorts', when),
        releasePorts: () => Promise.reject(new ProcessDied('the process is gone')),
      },
    });
    const asked = { networkId, toExternal: false, resourceRequests: true };
    await expect(engine.servers.act(context(), server.id, 'attachInterface', asked)).rejects.toThrow();
    await guardsWakeUp();
    expect(await portIds(server)).toEqual(before);
    expect((await fresh(server.id)).interfaces).toEqual(server.interfaces);
  });

  it('a job that is begun again after a crash comes to the same end', async () => {
    const volumeId = await newVolume();
    const server = await boot();
    const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
    await engine.servers.act(context(), server.id, 'attachVolume', wanted(volumeId));
    await expect.poll(() => hanging.calls).toBe(1);
    // The process ends in the middle of it; another one goes on.
    await engine.close();
    engine = await createEngine({ database: url, worker: { pollMs: 20 } });
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    expect(volumesOf(await fresh(server.id))).toEqual([volumeId]);
    expect((await volume(volumeId)).status).toBe('in-use');
  });

  it('the server can be stopped while a volume is being attached, and neither stops the other', async () => {
    const server = await boot();
    const volumeId = await newVolume();
    const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
    await engine.servers.act(context(), server.id, 'attachVolume', wanted(volumeId));
    await expect.poll(() => hanging.calls).toBe(1);
    await engine.servers.act(context(), server.id, 'os-stop');
    await expect.poll(async () => (await fresh(server.id)).vmState).toBe('stopped');
    hanging.release();
    await engine.idle();
    const after = await fresh(server.id);
    expect([after.vmState, after.taskState, after.jobId, volumesOf(after)]).toEqual([
      'stopped',
      null,
      null,
      [volumeId],
    ]);
    expect((await volume(volumeId)).status).toBe('in-use');
  });

  it('a server that is deleted does not wait for a volume that hangs, and the volume is free then', async () => {
    const server = await boot();
    const volumeId = await newVolume();
    const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
    await engine.servers.act(context(), server.id, 'attachVolume', wanted(volumeId));
    await expect.poll(() => hanging.calls).toBe(1);
    await engine.servers.delete(context(), server.id);
    await engine.idle();
    expect((await fresh(server.id)).deleted).toBe(true);
    expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
  });

  it('many volumes at once each get a device of their own', async () => {
    const server = await boot();
    const ids = await Promise.all(Array.from({ length: 12 }, newVolume));
    await Promise.all(ids.map((id) => engine.servers.act(context(), server.id, 'attachVolume', wanted(id))));
    await engine.idle();
    const after = await fresh(server.id);
    expect(new Set(volumesOf(after))).toEqual(new Set(ids));
    expect(new Set(after.blockDevices.map(({ device }) => device)).size).toBe(13);
    for (const id of ids) expect((await volume(id)).status).toBe('in-use');
  });

  it('of many requests for one volume exactly one gets it', async () => {
    const servers = [await boot(), await boot(), await boot()];
    const volumeId = await newVolume();
    const asked = servers.flatMap((server) => [server, server, server]);
    const results = await Promise.allSettled(
      asked.map((server) => engine.servers.act(context(), server.id, 'attachVolume', wanted(volumeId))),
    );
    await engine.idle();
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const holders = await Promise.all(servers.map(({ id }) => fresh(id)));
    expect(holders.flatMap(volumesOf)).toEqual([volumeId]);
    expect((await volume(volumeId)).attachments).toHaveLength(1);
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });

  it('attaching and detaching at random beside other actions leaves all sides agreeing', async () => {
    const server = await boot();
    const ids = await Promise.all(Array.from({ length: 4 }, newVolume));
    const quietly = (work: Promise<unknown>) => work.catch(() => undefined);
    for (let round = 0; round < 8; round++) {
      const current = await fresh(server.id);
      const asked = { networkId, toExternal: false, resourceRequests: true };
      const plugged = current.interfaces.at(-1)?.portId ?? randomUUID();
      await Promise.all([
        ...ids.map((id) =>
          volumesOf(current).includes(id)
            ? quietly(engine.servers.act(context(), current.id, 'detachVolume', { volumeId: id }))
            : quietly(engine.servers.act(context(), current.id, 'attachVolume', wanted(id))),
        ),
        quietly(engine.servers.act(context(), current.id, 'attachInterface', asked)),
        quietly(engine.servers.act(context(), current.id, 'detachInterface', { portId: plugged })),
        quietly(engine.servers.act(context(), server.id, round % 2 === 0 ? 'os-stop' : 'os-start')),
      ]);
      await engine.idle();
    }
    const after = await fresh(server.id);
    expect(after.taskState).toBeNull();
    for (const id of ids)
      expect((await volume(id)).status).toBe(volumesOf(after).includes(id) ? 'in-use' : 'available');
    expect(after.interfaces.map(({ portId }) => portId).sort()).toEqual((await portIds(server)).sort());
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });
});
