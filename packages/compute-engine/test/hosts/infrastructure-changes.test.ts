import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { MigrationRecord } from '../../src/model/index.js';
import { tables } from '../../src/schema/tables.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

function settled(results: readonly PromiseSettledResult<unknown>[]): readonly (string | number)[] {
  return results
    .map((result) =>
      result.status === 'fulfilled' ? 'done' : ((result.reason as { status?: number }).status ?? 'threw'),
    )
    .sort();
}

describe.each(storesUnderTest(inject('postgresUrl')))('changes of the infrastructure on $kind', ({ database }) => {
  let engine: Engine;
  let clock: ManualClock;
  beforeEach(async () => {
    const url = await database();
    clock = new ManualClock();
    engine = await engineUnderTest({ database: url, clock });
  });
  afterEach(() => engine.close());

  const serviceOn = async (host: string) => (await engine.services.on(host, 'nova-compute')).service;

  async function migration(fields: Partial<MigrationRecord>): Promise<void> {
    await coreOf(engine).store.transaction((tx) =>
      tables.migrations.insert(tx, {
        id: randomUUID(),
        serverId: randomUUID(),
        projectId: 'p1',
        userId: 'ada',
        type: 'migration',
        status: 'finished',
        sourceHost: 'host1',
        sourceNode: 'host1',
        destHost: 'host2',
        destNode: 'host2',
        oldFlavorSeq: null,
        newFlavorSeq: null,
        memoryTotalBytes: 0,
        memoryProcessedBytes: 0,
        memoryRemainingBytes: 0,
        diskTotalBytes: 0,
        diskProcessedBytes: 0,
        diskRemainingBytes: 0,
        hidden: false,
        createdAt: 1,
        updatedAt: null,
        ...fields,
      }),
    );
  }

  it('put a host in one zone, even if requests are concurrent', async () => {
    const zones = await Promise.all(['a', 'b', 'c', 'd'].map((name) => engine.aggregates.create(name, name)));
    const results = await Promise.allSettled(zones.map(({ seq }) => engine.aggregates.addHost(seq, 'host1')));
    expect(settled(results)).toEqual([409, 409, 409, 'done']);
    const [zone] = (await engine.aggregates.list()).filter(({ hosts }) => hosts.includes('host1'));
    expect((await coreOf(engine).infrastructure.hosts()).hosts.get('host1')!.zone).toBe(zone!.name);
  });

  it('assign a name to only one aggregate, even if requests are concurrent', async () => {
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => engine.aggregates.create('same')));
    expect(settled(results)).toEqual([409, 409, 409, 409, 409, 'done']);
  });

  it('invalidate values that are cached by epoch if the state of hosts changes, but not after heartbeats', async () => {
    const { infrastructure } = coreOf(engine);
    const epoch = async () => (await infrastructure.hosts()).epoch;
    const first = await epoch();
    const before = await infrastructure.hosts();
    await engine.services.heartbeat('host1', 'nova-compute');
    expect(await infrastructure.hosts()).not.toBe(before);
    expect(await epoch()).toBe(first);
    const { id } = await serviceOn('host1');
    await engine.services.update(id, { disabled: true });
    const disabled = await epoch();
    expect(disabled).not.toBe(first);
    const zone = await engine.aggregates.create('elsewhere', 'elsewhere');
    expect(await epoch()).toBe(disabled);
    await engine.aggregates.addHost(zone.seq, 'host2');
    const moved = await epoch();
    expect(moved).not.toBe(disabled);
    infrastructure.setReachable('host1', false);
    expect(await epoch()).not.toBe(moved);
  });

  it('lose no host that is added concurrently', async () => {
    const { seq } = await engine.aggregates.create('all');
    await Promise.all(['host1', 'host2'].map((host) => engine.aggregates.addHost(seq, host)));
    expect([...(await engine.aggregates.get(seq)).hosts].sort()).toEqual(['host1', 'host2']);
  });

  it.each(['accepted', 'queued', 'migrating', 'post-migrating', 'finished', 'confirming', 'running'] as const)(
    'keep a service while a migration to or from its host is %s',
    async (status) => {
      await migration({ status });
      for (const host of ['host1', 'host2'])
        await expect(engine.services.delete((await serviceOn(host)).id)).rejects.toMatchObject({ status: 409 });
    },
  );

  it.each(['confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done'] as const)(
    'delete a service if its migrations are %s',
    async (status) => {
      await migration({ status });
      await engine.services.delete((await serviceOn('host1')).id);
      expect((await coreOf(engine).infrastructure.hosts()).hosts.has('host1')).toBe(false);
    },
  );

  it.each(['accepted', 'pre-migrating', 'done'] as const)(
    'keep a host down while an evacuation from that host is %s',
    async (status) => {
      const { id } = await serviceOn('host1');
      await engine.services.update(id, { forcedDown: true });
      await migration({ type: 'evacuation', status });
      await expect(engine.services.update(id, { forcedDown: false })).rejects.toMatchObject({ status: 400 });
      expect((await serviceOn('host1')).forcedDown).toBe(true);
    },
  );

  it('complete the evacuations from a host when its service starts again; only then can it be marked as up', async () => {
    const { id } = await serviceOn('host1');
    await engine.services.update(id, { forcedDown: true });
    await migration({ type: 'evacuation', status: 'done' });
    await engine.services.heartbeat('host1', 'nova-compute');
    await expect(engine.services.update(id, { forcedDown: false })).rejects.toMatchObject({ status: 400 });
    await engine.services.heartbeat('host1', 'nova-compute', { started: true });
    expect((await tables.migrations.find(coreOf(engine).store)).map(({ status }) => status)).toEqual(['completed']);
    expect((await engine.services.update(id, { forcedDown: false })).up).toBe(true);
  });

  it('complete the evacuations from hosts that this process represents when it starts', async () => {
    const status = async () => (await tables.migrations.find(coreOf(engine).store))[0]!.status;
    await migration({ type: 'evacuation', status: 'done' });
    await engine.services.begin(['host2']);
    expect(await status()).toBe('done');
    await engine.services.begin();
    expect(await status()).toBe('completed');
  });

  it.each(['completed', 'failed', 'error'] as const)(
    'ignore an evacuation that is %s, and those from another host',
    async (status) => {
      const { id } = await serviceOn('host1');
      await engine.services.update(id, { forcedDown: true });
      await migration({ type: 'evacuation', status });
      await migration({ type: 'evacuation', status: 'done', sourceHost: 'host2' });
      await migration({ type: 'migration', status: 'accepted' });
      expect((await engine.services.update(id, { forcedDown: false })).service.forcedDown).toBe(false);
    },
  );

  it('show tasks in progress in the workload of hypervisors', async () => {
    const context = contextOf('p1');
    const { servers } = await engine.servers.create(context, newServer);
    await engine.idle();
    const server = (await tables.servers.get(coreOf(engine).store, servers[0]!.id))!;
    const of = async () =>
      (await engine.hypervisors.list({ servers: true })).find(({ host }) => host.name === server.host)!;
    expect(await of()).toMatchObject({ workload: 0, servers: [{ id: server.id, seq: server.seq }] });
    await coreOf(engine).store.transaction((tx) => tables.servers.update(tx, { ...server, taskState: 'rebooting' }));
    expect((await of()).workload).toBe(1);
  });

  it('request the hosts of an aggregate that are up to download images', async () => {
    const fetched: (readonly [string, readonly string[]])[] = [];
    coreOf(engine).driver.cacheImages = async (host, images) => {
      fetched.push([host, images]);
      throw new Error('the disk is full');
    };
    const { seq } = await engine.aggregates.create('all');
    for (const host of ['host1', 'host2']) await engine.aggregates.addHost(seq, host);
    await engine.services.update((await serviceOn('host2')).id, { forcedDown: true });
    await engine.aggregates.cacheImages(contextOf('p1'), seq, [imageId]);
    await eventually(() => expect(fetched).toEqual([['host1', [imageId]]]));
  });

  it('accept exactly as many server groups as the quota allows', async () => {
    const context = contextOf('p1');
    const results = await Promise.allSettled(
      Array.from({ length: 16 }, (_, i) => engine.serverGroups.create(context, { name: `g${i}`, policy: 'affinity' })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await engine.serverGroups.list(context, { limit: 100 })).toHaveLength(10);
  });

  it('hide soft-deleted servers from their group', async () => {
    const context = contextOf('p1');
    const group = await engine.serverGroups.create(context, { name: 'g', policy: 'affinity' });
    const { servers } = await engine.servers.create(context, newServer);
    await engine.idle();
    const patch = (fields: object) =>
      coreOf(engine).store.transaction(async (tx) => {
        const server = (await tables.servers.get(tx, servers[0]!.id))!;
        return tables.servers.update(tx, { ...server, ...fields });
      });
    await patch({ groupId: group.id });
    expect((await engine.serverGroups.get(context, group.id)).members).toEqual([servers[0]!.id]);
    await patch({ vmState: 'soft-delete' });
    expect((await engine.serverGroups.get(context, group.id)).members).toEqual([]);
  });

  it('create one of many flavors that request the same id', async () => {
    const flavor = { id: 'x', vcpus: 1, memoryMb: 1, diskGb: 0 };
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, i) => engine.flavors.create({ ...flavor, name: `f${i}` })),
    );
    expect(settled(results)).toEqual([409, 409, 409, 409, 'done']);
  });

  it('lose no project that receives access to a flavor concurrently with others', async () => {
    const admin = contextOf('p1', { isAdmin: true });
    await engine.flavors.create({ id: 'x', name: 'x', vcpus: 1, memoryMb: 1, diskGb: 0, isPublic: false });
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => engine.flavors.grant(admin, 'x', `p${i}`, { allowPublic: false })),
    );
    expect(await engine.flavors.access(admin, 'x')).toHaveLength(8);
  });
});
