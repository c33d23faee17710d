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

/** The error that simulates the end of a process. No caller ever receives it. */
class ProcessDied extends Error {}

/** Replaces a catalog method with one that simulates the end of the process before or after the call. */
function dying<T extends object>(catalog: T, method: keyof T, when: 'before' | 'after'): T {
  return {
    ...catalog,
    [method]: async (...args: unknown[]) => {
      if (when === 'after') await (catalog[method] as (...given: unknown[]) => Promise<unknown>)(...args);
      throw new ProcessDied('the process has ended');
    },
  };
}

describe.each(storesUnderTest(inject('postgresUrl')))(
  "concurrently with a server's own jobs, on $kind,",
  ({ open }) => {
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
    const expected = (volumeId: string) => ({ volumeId, allowShelved: true, multiattach: true });
    const attach = async (server: Server, volumeId: string) => {
      await engine.servers.act(context(), server.id, 'attachVolume', expected(volumeId));
      await engine.idle();
      return fresh(server.id);
    };
    const volumesOf = ({ blockDevices }: Server) => blockDevices.flatMap(({ volumeId }) => volumeId ?? []);
    const portIds = async (server: Server) =>
      (await engine.embedded.networks.listPorts(caller, { deviceIds: [server.id] })).map(({ id }) => id);

    /** Replaces catalogs of the engine, and returns the same engine. */
    function withCatalogs(catalogs: { readonly volumes?: VolumeCatalog; readonly networks?: NetworkCatalog }): Engine {
      Object.assign(engine.catalogs, catalogs);
      return engine;
    }

    const original = () => ({ volumes: engine.embedded.volumes, networks: engine.embedded.networks });

    /** Restores the original catalogs, and waits until the guards of incomplete requests have run. */
    async function runGuards(): Promise<void> {
      withCatalogs(original());
      await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    }

    it.each(['before', 'after'] as const)(
      'a volume is attached completely if the process ends %s its reservation',
      async (when) => {
        const server = await boot();
        const volumeId = await newVolume();
        withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'reserve', when) });
        await expect(attach(server, volumeId)).rejects.toThrow(ProcessDied);
        await runGuards();
        expect(volumesOf(await fresh(server.id))).toEqual([volumeId]);
        expect(await volume(volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: server.id }] });
        expect((await volume(volumeId)).attachments).toHaveLength(1);
      },
    );

    it.each(['before', 'after'] as const)(
      'a volume is released if the process ends %s its reservation, and the server is then deleted',
      async (when) => {
        const server = await boot();
        const volumeId = await newVolume();
        withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'reserve', when) });
        await expect(attach(server, volumeId)).rejects.toThrow(ProcessDied);
        withCatalogs(original());
        await engine.servers.delete(context(), server.id);
        await engine.idle();
        await runGuards();
        expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
      },
    );

    it.each(['before', 'after'] as const)(
      'a volume is detached if the process ends %s the request for it',
      async (when) => {
        const volumeId = await newVolume();
        const server = await attach(await boot(), volumeId);
        withCatalogs({ volumes: dying<VolumeCatalog>(engine.embedded.volumes, 'beginDetaching', when) });
        await expect(engine.servers.act(context(), server.id, 'detachVolume', { volumeId })).rejects.toThrow(
          ProcessDied,
        );
        await runGuards();
        expect(volumesOf(await fresh(server.id))).toEqual([]);
        expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
      },
    );

    it.each(['before', 'after'] as const)('no port remains if the process ends %s its creation', async (when) => {
      const server = await boot();
      const before = await portIds(server);
      withCatalogs({
        networks: {
          ...dying<NetworkCatalog>(engine.embedded.networks, 'createPorts', when),
          releasePorts: () => Promise.reject(new ProcessDied('the process has ended')),
        },
      });
      const requested = { networkId, toExternal: false, resourceRequests: true };
      await expect(engine.servers.act(context(), server.id, 'attachInterface', requested)).rejects.toThrow(ProcessDied);
      await runGuards();
      expect(await portIds(server)).toEqual(before);
      expect((await fresh(server.id)).interfaces).toEqual(server.interfaces);
    });

    it('a job that is repeated after a crash has the same result', async () => {
      const volumeId = await newVolume();
      const server = await boot();
      const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
      await engine.servers.act(context(), server.id, 'attachVolume', expected(volumeId));
      await expect.poll(() => hanging.calls).toBe(1);
      // The process ends during the job, and another process continues the job.
      await engine.close();
      engine = await createEngine({ database: url, worker: { pollMs: 20 } });
      await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
      expect(volumesOf(await fresh(server.id))).toEqual([volumeId]);
      expect((await volume(volumeId)).status).toBe('in-use');
    });

    it('the server can be stopped while a volume is being attached, and neither interrupts the other', async () => {
      const server = await boot();
      const volumeId = await newVolume();
      const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
      await engine.servers.act(context(), server.id, 'attachVolume', expected(volumeId));
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

    it('the deletion of a server does not wait for a volume that hangs, and releases the volume', async () => {
      const server = await boot();
      const volumeId = await newVolume();
      const hanging = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
      await engine.servers.act(context(), server.id, 'attachVolume', expected(volumeId));
      await expect.poll(() => hanging.calls).toBe(1);
      await engine.servers.delete(context(), server.id);
      await engine.idle();
      expect((await fresh(server.id)).deleted).toBe(true);
      expect(await volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
    });

    it('many concurrent volumes each receive a different device', async () => {
      const server = await boot();
      const ids = await Promise.all(Array.from({ length: 12 }, newVolume));
      await Promise.all(ids.map((id) => engine.servers.act(context(), server.id, 'attachVolume', expected(id))));
      await engine.idle();
      const after = await fresh(server.id);
      expect(new Set(volumesOf(after))).toEqual(new Set(ids));
      expect(new Set(after.blockDevices.map(({ device }) => device)).size).toBe(13);
      for (const id of ids) expect((await volume(id)).status).toBe('in-use');
    });

    it('exactly one of many requests for a volume succeeds', async () => {
      const servers = [await boot(), await boot(), await boot()];
      const volumeId = await newVolume();
      const request = servers.flatMap((server) => [server, server, server]);
      const results = await Promise.allSettled(
        request.map((server) => engine.servers.act(context(), server.id, 'attachVolume', expected(volumeId))),
      );
      await engine.idle();
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const holders = await Promise.all(servers.map(({ id }) => fresh(id)));
      expect(holders.flatMap(volumesOf)).toEqual([volumeId]);
      expect((await volume(volumeId)).attachments).toHaveLength(1);
      expect(await coreOf(engine).worker.pending()).toBe(0);
    });

    it('exactly one of many requests for a port succeeds, and the failed ones leave the port attached', async () => {
      const servers = [await boot(), await boot()];
      const { id: portId } = await engine.embedded.networks.createPort(caller, { networkId });
      const request = { portId, toExternal: false, resourceRequests: true };
      const results = await Promise.allSettled(
        [...servers, ...servers, ...servers].map(({ id }) =>
          engine.servers.act(context(), id, 'attachInterface', request),
        ),
      );
      await engine.idle();
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const attachedServers = (await Promise.all(servers.map(({ id }) => fresh(id)))).filter(({ interfaces }) =>
        interfaces.some((each) => each.portId === portId),
      );
      const { deviceId } = await engine.embedded.networks.getPort(caller, portId);
      expect(attachedServers.map(({ id }) => id)).toEqual([deviceId]);
      expect(await coreOf(engine).worker.pending()).toBe(0);
    });

    it('attachments and detachments that overlap power actions leave all services consistent', async () => {
      const server = await boot();
      const ids = await Promise.all(Array.from({ length: 4 }, newVolume));
      const verbs = ['attach_volume', 'detach_volume', 'attach_interface', 'detach_interface'] as const;
      for (let round = 0; round < 8; round++) {
        const isEven = round % 2 === 0;
        const { interfaces } = await fresh(server.id);
        const hanging = driver.addRule({ match: { verb: verbs }, hang: true });
        const request = { networkId, toExternal: false, resourceRequests: true };
        const requested = Promise.all([
          ...ids.map((id) =>
            isEven
              ? engine.servers.act(context(), server.id, 'attachVolume', expected(id))
              : engine.servers.act(context(), server.id, 'detachVolume', { volumeId: id }),
          ),
          engine.servers.act(context(), server.id, 'attachInterface', request),
          engine.servers.act(context(), server.id, 'detachInterface', { portId: interfaces[0]!.portId }),
        ]);
        await expect.poll(() => hanging.calls).toBe(ids.length + 2);
        await engine.servers.act(context(), server.id, isEven ? 'os-stop' : 'os-start');
        hanging.remove();
        await requested;
        await engine.idle();
        const after = await fresh(server.id);
        expect([after.vmState, after.taskState, after.fault]).toEqual([isEven ? 'stopped' : 'active', null, null]);
        expect(volumesOf(after).sort()).toEqual(isEven ? ids.toSorted() : []);
        for (const id of ids) expect((await volume(id)).status).toBe(isEven ? 'in-use' : 'available');
        expect(after.interfaces).toHaveLength(1);
        expect(after.interfaces[0]!.portId).not.toBe(interfaces[0]!.portId);
        expect(await portIds(server)).toEqual(after.interfaces.map(({ portId }) => portId));
      }
      expect(await coreOf(engine).worker.pending()).toBe(0);
    });
  },
);
