import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CatalogError } from '@apistrata/catalogs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Rule } from '../../src/drivers/simulated-rules.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const networkId = defaultPreset.networks![0]!.id;

describe.each(storesUnderTest(inject('postgresUrl')))('work that cannot be completed, on $kind,', ({ open }) => {
  let engine: Engine;
  let url: string;
  let folder: string;
  beforeEach(async () => {
    const opened = await open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-retries-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
  });
  afterEach(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  async function start(rules: readonly Rule[]): Promise<void> {
    engine = await engineUnderTest({
      database: url,
      driver: new SimulatedDriver({ clock: systemClock, rules }),
      worker: { pollMs: 10, retryMs: 10 },
      onError: () => {},
    });
  }

  async function create(): Promise<string> {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: [{ networkId }] };
    return (await engine.servers.create(contextOf('p1'), newServer)).servers[0]!.id;
  }

  const server = (id: string) => engine.servers.get(contextOf('p1'), id, { deleted: true });
  const ports = async (id: string) => engine.embedded.networks.listPorts(contextOf('p1').caller, { deviceIds: [id] });
  const messages = async (id: string) =>
    (await engine.instanceActions.list(id)).map(({ action, message }) => [action, message]);

  it('sets the server to ERROR with its fault, and its deletion releases the resources', async () => {
    await start([{ match: { verb: 'spawn' }, fail: 'no luck' }]);
    const rejectAsUnavailable = () =>
      Promise.reject(new CatalogError('UNAVAILABLE', 'The network service cannot be reached.'));
    Object.assign(engine.catalogs, { networks: { ...engine.embedded.networks, releasePorts: rejectAsUnavailable } });
    const id = await create();
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    const fault = { code: 500, message: 'gave up after 5 attempts: The network service cannot be reached.' };
    expect(await server(id)).toMatchObject({ vmState: 'error', taskState: null, jobId: null, fault });
    expect(await messages(id)).toEqual([['create', 'Error']]);
    expect(await ports(id)).toHaveLength(1);

    Object.assign(engine.catalogs, { networks: engine.embedded.networks });
    await engine.servers.delete(contextOf('p1'), id);
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    expect(await ports(id)).toEqual([]);
    const { hosts } = await coreOf(engine).infrastructure.hosts();
    const used = await coreOf(engine).store.db.selectFrom('nodes').select('vcpus_used').execute();
    expect([used.map(({ vcpus_used }) => vcpus_used), hosts.size]).toEqual([[0, 0], 2]);
  });

  it('is retried after an outage of the database, without an effect on the server', async () => {
    await start([]);
    let cuts = 2;
    const { createPorts } = engine.embedded.networks;
    const cut = () => Promise.reject(new Error('Connection terminated unexpectedly'));
    Object.assign(engine.catalogs, {
      networks: {
        ...engine.embedded.networks,
        createPorts: (...requested: Parameters<typeof createPorts>) => (cuts-- > 0 ? cut() : createPorts(...requested)),
      },
    });
    const id = await create();
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    expect(await server(id)).toMatchObject({ vmState: 'active', fault: null });
    expect(await messages(id)).toEqual([['create', null]]);
    expect(await ports(id)).toHaveLength(1);
  });

  it('sets the server to ERROR if the process crashed in each attempt', async () => {
    await start([{ match: { verb: 'spawn' }, hang: true }]);
    const id = await create();
    await expect.poll(async () => (await server(id)).taskState).toBe('spawning');
    await engine.close();
    await start([]);
    await engine.idle();
    expect(await server(id)).toMatchObject({ vmState: 'active' });

    await engine.close();
    await start([{ match: { verb: 'reboot' }, hang: true }]);
    await engine.servers.act(contextOf('p1'), id, 'rebootHard');
    await expect.poll(async () => (await server(id)).taskState).toBe('reboot_started_hard');
    await coreOf(engine).store.db.updateTable('jobs').set({ attempts: 5 }).execute();
    await engine.close();
    await start([]);
    await engine.idle();
    expect(await server(id)).toMatchObject({ vmState: 'error', fault: { message: 'gave up after 5 attempts' } });
    expect((await messages(id)).at(-1)).toEqual(['create', null]);
    expect((await messages(id))[0]).toEqual(['reboot', 'Error']);
  });

  it('sets the server to ERROR if no process knows its action', async () => {
    await start([{ match: { verb: 'spawn' }, hang: true }]);
    const id = await create();
    await expect.poll(async () => (await server(id)).taskState).toBe('spawning');
    await coreOf(engine).store.db.updateTable('jobs').set({ kind: 'createOnMars', attempts: 3 }).execute();
    await engine.close();
    await start([]);
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    const message = 'gave up after 5 attempts: no action is defined for jobs of kind createOnMars';
    expect(await server(id)).toMatchObject({ vmState: 'error', fault: { message } });
  });
});
