import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { StoredVolume, VolumeStorage } from '@apistrata/catalogs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { HostLinks } from '../../src/drivers/host-links.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { createHost, type Host } from '../../src/hosts/create-host.js';
import type { LinkRequest } from '../../src/hosts/links/link-request.js';
import { createRemoteVolumeStorage } from '../../src/hosts/volumes/remote-volume-storage.js';
import { createVolumeHostFinder } from '../../src/hosts/volumes/volume-hosts.js';
import type { HostReport } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import { generateSecretKey } from '../../src/secrets/sealer.js';
import { contextOf } from '../engine-under-test.js';

const postgresUrl = inject('postgresUrl');
if (!postgresUrl) console.warn('\n*** SKIPPED: volumes on several hosts: this machine has no PostgreSQL ***\n');

const GIB = 2 ** 30;

/** Simulated machines, and a storage of volumes that records the calls it receives. */
class StorageDriver extends SimulatedDriver {
  readonly calls: string[] = [];
  readonly stored = new Map<string, StoredVolume>();
  freeGb: number;
  backend: string;
  /** Delays the creation of volumes. */
  pause: Promise<void> = Promise.resolve();

  constructor(options: ConstructorParameters<typeof SimulatedDriver>[0], freeGb: number, backend: string) {
    super(options);
    this.freeGb = freeGb;
    this.backend = backend;
  }

  async hostReport(): Promise<HostReport> {
    const { backend, freeGb } = this;
    const volumes = { backend, totalBytes: 1000 * GIB, freeBytes: freeGb * GIB, allocatedBytes: 0 };
    return { problem: null, volumes };
  }

  readonly volumes: VolumeStorage = {
    create: async (_caller, { id, sizeGb, origin }) => {
      this.calls.push(`create ${sizeGb} ${origin.kind}`);
      await this.pause;
      this.stored.set(id, { id, storedAt: 0 });
    },
    remove: async (id) => {
      this.calls.push('remove');
      this.stored.delete(id);
    },
    extend: async (_id, sizeGb) => void this.calls.push(`extend ${sizeGb}`),
    read: async (_caller, _id, format) => {
      this.calls.push(`read ${format}`);
      return Readable.from([Buffer.from(`image of ${this.backend}`)]);
    },
    reimage: async () => void this.calls.push('reimage'),
    replace: async (id, newId) => {
      this.calls.push('replace');
      this.stored.delete(newId);
      this.stored.set(id, { id, storedAt: 0 });
    },
    list: async () => [...this.stored.values()],
    usage: async () => undefined,
  };
}

describe.skipIf(!postgresUrl)('volumes on several hosts', { timeout: 60_000 }, () => {
  const secretKey = generateSecretKey();
  const { caller } = contextOf('p1');
  const hosts = new Map<string, Host>();
  const drivers = new Map<string, StorageDriver>();
  let links: HostLinks;
  let database: string;
  let engine: Engine;

  const start = async (name: string, freeGb: number, backend = 'directory') => {
    const options = { database, secretKey, name, address: '127.0.0.1', heartbeatMs: 200, serviceDownSeconds: 2 };
    const host = await createHost({
      ...options,
      driver: (clock, services) => {
        links = services.hosts!;
        const driver = new StorageDriver({ clock }, freeGb, backend);
        drivers.set(name, driver);
        return driver;
      },
    });
    hosts.set(name, host);
  };

  beforeAll(async () => {
    database = await freshDatabase(postgresUrl);
    const preset = { ...defaultPreset, hosts: [] };
    const settings = { serviceDownSeconds: 2 };
    engine = await createEngine({ database, secretKey, driver: noMachines(), preset, settings });
  }, 60_000);

  afterAll(async () => {
    for (const host of hosts.values()) await host.stop();
    await engine?.close();
  });

  const volumes = () => engine.embedded.volumes;
  const create = (more: object = {}) => volumes().createVolume(caller, { key: randomUUID(), sizeGb: 1, ...more });
  const callsOf = (name: string) => drivers.get(name)!.calls.splice(0);
  /** Creates a volume type with extra specs, and returns its name. */
  const typeWith = async (extraSpecs: Record<string, string>) =>
    (await volumes().createType(caller, { name: randomUUID(), extraSpecs })).name;

  it('store a volume that has no recorded host on the host that has stored volumes for the longest time', async () => {
    const { id } = await create();
    expect(await volumes().getVolume(caller, id)).toMatchObject({ host: null, status: 'available' });
    await start('h2', 30);
    await start('h1', 20, 'lvm');
    expect(await volumes().getVolume(caller, id)).toMatchObject({ host: 'h2' });
    expect(await links.volumeHost(id)).toBe('h2');
    await volumes().extendVolume(caller, id, 2);
    await volumes().deleteVolume(caller, id);
    expect([callsOf('h1'), callsOf('h2')]).toEqual([[], ['extend 2', 'remove']]);
  });

  it('publish the zone, backend and space of each host', async () => {
    const pool = { zone: 'nova', up: true, totalGb: 1000 };
    expect(await volumes().storagePools()).toEqual([
      { ...pool, host: 'h2', backend: 'directory', freeGb: 30 },
      { ...pool, host: 'h1', backend: 'lvm', freeGb: 20 },
    ]);
  });

  it('are placed on the host with the most free space', async () => {
    const volume = await create();
    expect(volume).toMatchObject({ host: 'h2', status: 'available' });
    expect([callsOf('h1'), callsOf('h2')]).toEqual([[], ['create 1 blank']]);
    await volumes().deleteVolume(caller, volume.id);
    expect(callsOf('h2')).toEqual(['remove']);
  });

  it('are read as an image from their host', async () => {
    const { id } = await create({ volumeType: await typeWith({ host: 'h1' }) });
    const image = (await volumes().readVolume(caller, id, 'qcow2')) ?? expect.fail('no data');
    expect(await text(image)).toBe('image of lvm');
    expect([callsOf('h1'), callsOf('h2')]).toEqual([['create 1 blank', 'read qcow2'], []]);
    await volumes().deleteVolume(caller, id);
    expect(callsOf('h1')).toEqual(['remove']);
  });

  it('are placed by the extra specs of their type, by zone, and not on excluded hosts', async () => {
    const onLvm = await typeWith({ volume_backend_name: 'lvm' });
    const onH2 = await typeWith({ 'capabilities:host': 'h2' });
    expect(await create({ volumeType: onLvm })).toMatchObject({ host: 'h1', status: 'available' });
    expect(await create({ volumeType: onH2 })).toMatchObject({ host: 'h2' });
    expect(await create({ excludedHosts: ['h2'] })).toMatchObject({ host: 'h1' });
    expect(await create({ excludedHosts: ['h1', 'h2'] })).toMatchObject({ status: 'error', host: null });
    const { seq } = await engine.aggregates.create('rack', 'rack');
    await engine.aggregates.addHost(seq, 'h1');
    expect(await create({ availabilityZone: 'rack' })).toMatchObject({ host: 'h1', availabilityZone: 'rack' });
    expect(await create({ availabilityZone: 'nova' })).toMatchObject({ host: 'h2', availabilityZone: 'nova' });
    expect(await create({ availabilityZone: 'rack', volumeType: onH2 })).toMatchObject({ status: 'error' });
    callsOf('h1');
    callsOf('h2');
  });

  it('are in the status error, without data, if no host has room', async () => {
    expect(await create({ sizeGb: 31 })).toMatchObject({ status: 'error', host: null });
    expect([callsOf('h1'), callsOf('h2')]).toEqual([[], []]);
  });

  it('reserve their space until their data is stored', async () => {
    const ends: (() => void)[] = [];
    for (const driver of drivers.values()) driver.pause = new Promise((resolve) => ends.push(resolve));
    const creations = [create({ sizeGb: 15 }), create({ sizeGb: 15 }), create({ sizeGb: 15 }), create({ sizeGb: 15 })];
    // The others have room, and wait until their data is stored.
    expect(await Promise.race(creations)).toMatchObject({ status: 'error' });
    for (const end of ends) end();
    const created = await Promise.all(creations);
    expect(created.map(({ status }) => status).sort()).toEqual(['available', 'available', 'available', 'error']);
    const hostNames = created.filter(({ status }) => status === 'available').map(({ host }) => host);
    expect(hostNames.sort()).toEqual(['h1', 'h2', 'h2']);
    // The hosts have not reported less free space, and no space is reserved anymore.
    expect(await create({ sizeGb: 30 })).toMatchObject({ host: 'h2', status: 'available' });
    callsOf('h1');
    callsOf('h2');
  });

  it('keep snapshots, copies and all changes on the host of their source', async () => {
    const { id } = await create({ excludedHosts: ['h2'] });
    const snapshot = await volumes().createSnapshot(caller, { key: randomUUID(), volumeId: id });
    expect(await links.volumeHost(snapshot.id)).toBe('h1');
    expect(await create({ snapshotId: snapshot.id })).toMatchObject({ host: 'h1' });
    expect(await create({ sourceVolumeId: id })).toMatchObject({ host: 'h1' });
    expect(await create({ sourceVolumeId: id, sizeGb: 25 })).toMatchObject({ status: 'error' });
    await volumes().extendVolume(caller, id, 3);
    await volumes().deleteSnapshot(caller, snapshot.id);
    await volumes().deleteVolume(caller, id);
    expect(callsOf('h1')).toEqual([
      'create 1 blank',
      ...['create 1 copy', 'create 1 copy', 'create 1 copy'],
      ...['extend 3', 'remove', 'remove'],
    ]);
    expect(callsOf('h2')).toEqual([]);
  });

  it('belong to the host of the volume that replaces their data', async () => {
    const [old, replacement] = [await create({ excludedHosts: ['h2'] }), await create({ excludedHosts: ['h1'] })];
    await volumes().updateVolume(caller, replacement.id, { migrationStatus: `target:${old.id}` });
    await volumes().completeMigration(caller, old.id, replacement.id, false);
    expect(await volumes().getVolume(caller, old.id)).toMatchObject({ host: 'h2' });
    expect([callsOf('h1'), callsOf('h2')]).toEqual([
      ['create 1 blank', 'remove'],
      ['create 1 blank', 'replace'],
    ]);
  });

  it('are replaced idempotently, also if their host is not recorded', async () => {
    const sent: string[] = [];
    const linkClient = {
      request: async (host: string, request: unknown) =>
        void sent.push(`${host} ${(request as LinkRequest & { call: string }).call}`),
      read: async () => Readable.from([]),
    };
    const { store, clock, infrastructure } = coreOf(engine);
    const storage = createRemoteVolumeStorage({ linkClient, store, clock, infrastructure });
    const unrecorded = randomUUID();
    expect(await links.volumeHost(unrecorded)).toBe('h2');
    const { id } = await create({ excludedHosts: ['h2'] });
    await storage.replace(unrecorded, id);
    await storage.replace(unrecorded, id);
    expect(sent).toEqual(['h1 replace', 'h2 remove', 'h1 replace']);
    expect(await links.volumeHost(unrecorded)).toBe('h1');
    await volumes().deleteVolume(caller, id);
    expect(callsOf('h1')).toEqual(['create 1 blank', 'remove']);
  });

  it('without a record are removed from each host, and their hosts are forgotten', async () => {
    const orphans = [randomUUID(), randomUUID()] as const;
    const { store } = coreOf(engine);
    const homes = orphans.map((id, index) => ({
      volume_id: id,
      host: `h${index + 1}`,
      pending_gb: 5,
      created_at: Date.now() - 2 * 86_400_000,
    }));
    await store.db.insertInto('volume_homes').values(homes).execute();
    await store.db
      .insertInto('volume_homes')
      .values({ ...homes[0], volume_id: randomUUID() })
      .execute();
    for (const [index, id] of orphans.entries()) drivers.get(`h${index + 1}`)!.stored.set(id, { id, storedAt: 0 });
    await volumes().cleanUpStorage();
    expect([callsOf('h1'), callsOf('h2')]).toEqual([['remove'], ['remove']]);
    const rows = await store.db.selectFrom('volume_homes').where('pending_gb', '=', 5).selectAll().execute();
    expect(rows).toEqual([]);
  });

  it('are not placed on a host that is down, but those on other hosts stay usable', async () => {
    const { id } = await create({ excludedHosts: ['h2'] });
    await hosts.get('h2')!.stop();
    hosts.delete('h2');
    await eventually(async () => expect((await volumes().storagePools()).map(({ up }) => up)).toEqual([false, true]), {
      timeout: 30_000,
    });
    expect(await create()).toMatchObject({ host: 'h1', status: 'available' });
    await volumes().extendVolume(caller, id, 2);
    await volumes().cleanUpStorage();
    const [node] = await tables.nodes.find(coreOf(engine).store, (q) => q.where('host', '=', 'h2'));
    expect(node?.volumes).toEqual({ backend: 'directory', totalGb: 1000, freeGb: 30 });
  });

  it('without a recorded host stay on a host that stored volumes before hosts were recorded', async () => {
    const { store } = coreOf(engine);
    const findNode = async () => (await tables.nodes.find(store, (q) => q.where('host', '=', 'h1')))[0]!;
    await hosts.get('h1')!.stop();
    const node = await findNode();
    const { keepsVolumesSince, ...process } = node.process!;
    expect(keepsVolumesSince).toBeGreaterThan(0);
    await store.transaction((tx) => tables.nodes.update(tx, { ...node, process }));
    expect(await createVolumeHostFinder(store)(randomUUID())).toBe('h1');
    await start('h1', 20, 'lvm');
    expect((await findNode()).process).toMatchObject({ keepsVolumesSince: 0 });
    expect(await createVolumeHostFinder(store)(randomUUID())).toBe('h1');
  });
});
