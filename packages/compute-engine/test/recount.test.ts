import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { checkDatabase } from '../src/maintenance/check-database.js';
import { inventoriesOf } from '../src/scheduler/inventories.js';
import { formatCorrection, recountHosts } from '../src/scheduler/recount.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { checkInvariants } from './model/invariants.js';
import { storesUnderTest } from './stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('the counted capacity of hosts, on $kind,', ({ open }) => {
  let engine: Engine;
  let url: string;
  let folder: string;
  beforeEach(async () => {
    const opened = await open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-recount-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
    engine = await engineUnderTest({ database: url });
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', minCount: 3, maxCount: 3 } as const;
    await engine.servers.create(contextOf('p1'), newServer);
    await engine.idle();
  });
  afterEach(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  const capacity = async () => (await checkDatabase(url)).find(({ what }) => what === 'capacity');

  it('is unchanged if it equals the claims of servers', async () => {
    expect(await recountHosts(coreOf(engine).store)).toEqual([]);
    expect(await capacity()).toMatchObject({ good: true });
  });

  it('is corrected otherwise, host by host, and reported', async () => {
    const { store } = coreOf(engine);
    const nodes = () => store.db.selectFrom('nodes').selectAll().orderBy('host').execute();
    const before = (await nodes()) as unknown as { host: string; vcpus_used: number; servers: number }[];
    const { host, vcpus_used, servers } = before[0]!;
    const wrong = { vcpus_used: vcpus_used + 4, servers: servers + 1 };
    await store.db.updateTable('nodes').set(wrong).where('host', '=', host).execute();
    expect(await capacity()).toEqual({ what: 'capacity', good: false, reported: expect.stringContaining(`: ${host}`) });
    const corrections = await recountHosts(store);
    expect(corrections.map(formatCorrection)).toEqual([
      `The usage of host ${host} was miscounted and has been corrected: vcpus from ${vcpus_used + 4} to ${vcpus_used}, servers from ${servers + 1} to ${servers}.`,
    ]);
    expect(await nodes()).toEqual(before);
    expect(await capacity()).toMatchObject({ good: true });
    await checkInvariants(engine);
  });

  it('includes the resource classes that a host declares', async () => {
    const { store } = coreOf(engine);
    const [first] = [...(await engine.hosts.map()).hosts.keys()];
    const host = first ?? '';
    const inventory = { total: 2, reserved: 0, minUnit: 1, maxUnit: 2, stepSize: 1, allocationRatio: 1 };
    const cached = (await engine.hosts.map()).hosts.get(host);
    await engine.hosts.setOffer(host, {
      inventories: { ...(cached && inventoriesOf(cached.node)), CUSTOM_LICENCE: inventory },
    });
    await engine.flavors.setExtraSpecs({ ...contextOf('p1'), isAdmin: true }, '1', { 'resources:CUSTOM_LICENCE': '1' });
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', minCount: 3, maxCount: 3 } as const;
    const { servers } = await engine.servers.create(contextOf('p1'), newServer);
    await engine.idle();
    const states = await Promise.all(servers.map(({ id }) => engine.servers.get(contextOf('p1'), id)));
    expect(states.map(({ vmState }) => vmState).sort()).toEqual(['active', 'active', 'error']);
    expect(await engine.hosts.allocations(host)).toMatchObject({ CUSTOM_LICENCE: 2 });
    expect(await recountHosts(store)).toEqual([]);
    expect(await capacity()).toMatchObject({ good: true });
    await store.db.updateTable('host_resources').set({ used: 5 }).execute();
    expect(await capacity()).toMatchObject({ good: false, reported: expect.stringContaining(`: ${host}`) });
    expect((await recountHosts(store)).map(formatCorrection)).toEqual([
      `The usage of host ${host} was miscounted and has been corrected: CUSTOM_LICENCE from 5 to 2.`,
    ]);
    expect(await capacity()).toMatchObject({ good: true });
    await store.db.deleteFrom('host_resources').execute();
    expect(await capacity()).toMatchObject({ good: false });
    expect(await recountHosts(store)).toHaveLength(1);
    expect(await engine.hosts.allocations(host)).toMatchObject({ CUSTOM_LICENCE: 2 });
    await checkInvariants(engine);
  });

  it('stays exact if servers are created and deleted concurrently', async () => {
    const { store } = coreOf(engine);
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const churn = async () => {
      for (let round = 0; round < 5; round++) {
        const { servers } = await engine.servers.create(contextOf('p1'), newServer);
        await engine.idle();
        await engine.servers.act(contextOf('p1'), servers[0]!.id, 'delete');
        await engine.idle();
      }
    };
    const recount = async () => {
      for (let round = 0; round < 10; round++) expect(await recountHosts(store)).toEqual([]);
    };
    await Promise.all([churn(), recount()]);
    await checkInvariants(engine);
  });
});
