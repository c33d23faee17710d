import { randomUUID } from 'node:crypto';
import type { VolumeCatalog } from '@apistrata/catalogs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { Server } from '../../src/model/index.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const context = () => contextOf('p1');
const { caller } = context();

/** Returns a promise, and the function that resolves it. */
function newSignal() {
  let resolve = () => {};
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

describe.each(storesUnderTest(inject('postgresUrl')))('while a server leaves its host, on $kind,', ({ open }) => {
  let engine: Engine;
  let driver: SimulatedDriver;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const opened = await open();
    ({ close } = opened);
    engine = await engineUnderTest({
      database: opened.url,
      driver: (clock) => (driver = new SimulatedDriver({ clock })),
      worker: { pollMs: 20, retryMs: 50 },
    });
  });
  afterEach(async () => {
    await engine.close();
    await close();
  });

  const act = (id: string, ...request: [action: string, ...rest: any[]]) =>
    (engine.servers.act as any)(context(), id, ...request);
  const fresh = (id: string) => engine.servers.get(context(), id, { deleted: true });
  const volume = (id: string) => engine.embedded.volumes.getVolume(caller, id);
  const volumesOf = ({ blockDevices }: Server) => blockDevices.flatMap(({ volumeId }) => volumeId ?? []);

  async function bootWithVolumes(count: number): Promise<{ id: string; volumeIds: string[] }> {
    const { servers } = await engine.servers.create(context(), { name: 'web', flavorId: '1', imageId });
    const { id } = servers[0]!;
    await engine.idle();
    const volumeIds: string[] = [];
    for (let i = 0; i < count; i++) {
      const volumeId = (await engine.embedded.volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 })).id;
      volumeIds.push(volumeId);
      await act(id, 'attachVolume', { volumeId, allowShelved: true, multiattach: true });
      await engine.idle();
    }
    return { id, volumeIds };
  }

  /** Pauses calls to a method of the volume catalog, before or after the volume service executes them. */
  function pause(when: 'before' | 'after', method: keyof VolumeCatalog) {
    const original = engine.catalogs.volumes;
    const reached = newSignal();
    const released = newSignal();
    const wait = () => {
      reached.resolve();
      return released.promise;
    };
    const pausing = async (...args: unknown[]) => {
      if (when === 'before') await wait();
      const result = await (original[method] as (...given: unknown[]) => Promise<unknown>)(...args);
      if (when === 'after') await wait();
      return result;
    };
    Object.assign(engine.catalogs, { volumes: { ...original, [method]: pausing } });
    return { reached: reached.promise, release: () => released.resolve() };
  }

  it('a volume that is being detached is released', async () => {
    const { id, volumeIds } = await bootWithVolumes(2);
    const detaching = driver.addRule({ match: { verb: 'detach_volume' }, hang: true });
    await act(id, 'detachVolume', { volumeId: volumeIds[0] });
    await expect.poll(() => detaching.calls).toBe(1);
    await act(id, 'shelve');
    await expect.poll(async () => (await fresh(id)).vmState).toBe('shelved_offloaded');
    detaching.release();
    await engine.idle();
    expect(volumesOf(await fresh(id))).toEqual([volumeIds[1]]);
    expect(await volume(volumeIds[0]!)).toMatchObject({ status: 'available', attachments: [] });
    expect(await volume(volumeIds[1]!)).toMatchObject({ status: 'reserved', attachments: [{ serverId: id }] });
  });

  it('a volume that is being attached is attached', async () => {
    const { id, volumeIds } = await bootWithVolumes(1);
    const { id: volumeId } = await engine.embedded.volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 });
    const attaching = driver.addRule({ match: { verb: 'attach_volume' }, hang: true });
    await act(id, 'attachVolume', { volumeId, allowShelved: true, multiattach: true });
    await expect.poll(() => attaching.calls).toBe(1);
    await act(id, 'shelve');
    await expect.poll(async () => (await fresh(id)).vmState).toBe('shelved_offloaded');
    attaching.release();
    await engine.idle();
    expect(await fresh(id)).toMatchObject({ vmState: 'shelved_offloaded', taskState: null, fault: null });
    expect(volumesOf(await fresh(id))).toEqual([volumeIds[0], volumeId]);
    expect(await volume(volumeIds[0]!)).toMatchObject({ status: 'reserved', attachments: [{ serverId: id }] });
    expect(await volume(volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: id }] });
    await act(id, 'unshelve', {});
    await engine.idle();
    expect(await volume(volumeId)).toMatchObject({ status: 'in-use', attachments: [{ serverId: id }] });
  });

  it('a volume that is detached after its reservation stays detached', async () => {
    const { id, volumeIds } = await bootWithVolumes(1);
    const detaching = pause('before', 'beginDetaching');
    const detachment = act(id, 'detachVolume', { volumeId: volumeIds[0] });
    await detaching.reached;
    const reserving = pause('after', 'reserve');
    await act(id, 'shelve');
    await reserving.reached;
    detaching.release();
    await detachment;
    await expect.poll(async () => volumesOf(await fresh(id))).toEqual([]);
    reserving.release();
    await engine.idle();
    expect(await fresh(id)).toMatchObject({ vmState: 'shelved_offloaded', blockDevices: [{ destination: 'local' }] });
    expect(await volume(volumeIds[0]!)).toMatchObject({ status: 'available', attachments: [] });
  });

  it.each(['reserve', 'deleteAttachment'] as const)(
    'the deletion of the server releases its volumes, even if %s was executed but has not returned',
    async (method) => {
      const { id, volumeIds } = await bootWithVolumes(1);
      const paused = pause('after', method);
      await act(id, 'shelve');
      await paused.reached;
      Object.assign(engine.catalogs, { volumes: engine.embedded.volumes });
      await engine.servers.delete(context(), id);
      await expect.poll(async () => (await fresh(id)).deleted).toBe(true);
      paused.release();
      await engine.idle();
      expect(await volume(volumeIds[0]!)).toMatchObject({ status: 'available', attachments: [] });
      expect(await coreOf(engine).worker.pending()).toBe(0);
    },
  );

  it('a concurrent change of a volume attachment is kept', async () => {
    const { id, volumeIds } = await bootWithVolumes(1);
    const paused = pause('after', 'reserve');
    await act(id, 'shelve');
    await paused.reached;
    await engine.volumeAttachments.update(context(), await fresh(id), volumeIds[0]!, { deleteOnTermination: true });
    paused.release();
    await engine.idle();
    expect((await fresh(id)).blockDevices).toMatchObject([{}, { deleteOnTermination: true }]);
  });

  it('a volume that is detached during an unshelve is released, and the server starts', async () => {
    const { id, volumeIds } = await bootWithVolumes(2);
    await act(id, 'shelve');
    await engine.idle();
    const deleting = pause('before', 'deleteAttachment');
    await act(id, 'detachVolume', { volumeId: volumeIds[1] });
    await deleting.reached;
    const connecting = pause('after', 'connect');
    await act(id, 'unshelve', {});
    await connecting.reached;
    deleting.release();
    await expect.poll(async () => volumesOf(await fresh(id))).toEqual([volumeIds[0]]);
    connecting.release();
    await engine.idle();
    expect(await fresh(id)).toMatchObject({ vmState: 'active', taskState: null, fault: null });
    expect(volumesOf(await fresh(id))).toEqual([volumeIds[0]]);
    expect(await volume(volumeIds[0]!)).toMatchObject({ status: 'in-use', attachments: [{ serverId: id }] });
    expect(await volume(volumeIds[1]!)).toMatchObject({ status: 'available', attachments: [] });
  });

  it('random attachments and detachments leave the server and its volumes consistent', async () => {
    const { id, volumeIds } = await bootWithVolumes(4);
    const accepted = new Set<string>();
    const request = (action: string, body: object) =>
      act(id, action, body).then(
        () => accepted.add(action),
        () => undefined,
      );
    for (let round = 0; round < 12; round++) {
      const before = volumesOf(await fresh(id));
      await Promise.all([
        ...volumeIds.map((volumeId) =>
          before.includes(volumeId)
            ? request('detachVolume', { volumeId })
            : request('attachVolume', { volumeId, allowShelved: true, multiattach: true }),
        ),
        request(round % 2 === 0 ? 'shelve' : 'unshelve', {}),
      ]);
      await engine.idle();
      const after = await fresh(id);
      expect(after).toMatchObject({ vmState: expect.toBeOneOf(['active', 'shelved_offloaded']), taskState: null });
      for (const volumeId of volumeIds) {
        const isAttached = volumesOf(after).includes(volumeId);
        const { status, attachments } = await volume(volumeId);
        expect(attachments.map(({ serverId }) => serverId)).toEqual(isAttached ? [id] : []);
        expect(isAttached ? ['in-use', 'reserved'] : ['available']).toContain(status);
      }
    }
    expect([...accepted].sort()).toEqual(['attachVolume', 'detachVolume', 'shelve', 'unshelve']);
    expect(await coreOf(engine).worker.pending()).toBe(0);
  });
});
