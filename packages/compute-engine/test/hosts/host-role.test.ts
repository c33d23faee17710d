import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { DriverServices } from '../../src/drivers/driver-services.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { createHost, type Host } from '../../src/hosts/create-host.js';
import { grantHostRole, hostKeysOf } from '../../src/maintenance/host-role.js';
import type { PowerState, Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { generateSecretKey } from '../../src/secrets/sealer.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { RecordingGuard } from './fenced-cloud.js';

const postgresUrl = inject('postgresUrl');

/** Simulated machines that a test can switch off as if their guests had shut down, with a recording guard. */
class EndingDriver extends SimulatedDriver {
  readonly guard = new RecordingGuard();
  #listener: ((serverId: string) => void) | undefined;
  #ended = new Set<string>();

  onPowerChange(listener: (serverId: string) => void) {
    this.#listener = listener;
    return () => {};
  }

  async powerState({ id }: Server): Promise<PowerState> {
    return this.#ended.has(id) ? 4 : 1;
  }

  end(id: string): void {
    this.#ended.add(id);
    this.#listener?.(id);
  }
}

describe.skipIf(!postgresUrl)('the role of a host', { timeout: 60_000 }, () => {
  const context = contextOf('p1', { isAdmin: true });
  const { caller } = context;
  const secretKey = generateSecretKey();
  const role = `host_${randomUUID().slice(0, 8)}`;
  let database: string;
  let owner: pg.Client;
  let engine: Engine;
  let host: Host | undefined;
  let services: DriverServices;
  let driver: EndingDriver;

  beforeAll(async () => {
    database = await freshDatabase(postgresUrl);
    owner = new pg.Client(database);
    await owner.connect();
    engine = await engineUnderTest({
      database,
      secretKey,
      driver: noMachines(),
      preset: { ...defaultPreset, hosts: [] },
    });
    await owner.query(`create role ${role} login password 'password'`);
    await grantHostRole(database, { host: 'h1', role });
    host = await createHost({
      database: database.replace(/\/\/[^@/]*@?/, `//${role}:password@`),
      hostKey: await hostKeysOf(database, 'h1', { secretKey }),
      name: 'h1',
      fence: 'stop',
      heartbeatMs: 500,
      driver: (clock, given) => {
        services = given;
        driver = new EndingDriver({ clock });
        return driver;
      },
      onError: (error) => driver.guard.broken || console.error(error),
    });
  }, 60_000);

  afterAll(async () => {
    await host?.stop();
    await engine?.close();
    await owner?.query(`drop owned by ${role}`);
    await owner?.query(`drop role ${role}`);
    await owner?.end();
  });

  const create = async (image: string, networks: 'none' | 'auto' = 'none') => {
    const server = { name: 'web', flavorId: '1', imageId: image, networks, host: 'h1' } as const;
    const { servers } = await engine.servers.create(context, server);
    const id = servers[0]!.id;
    await expect.poll(async () => (await engine.servers.get(context, id)).vmState).toBe('active');
    return id;
  };
  const image = async (content: string) => {
    const id = randomUUID();
    await engine.embedded.images.create(caller, {
      id,
      visibility: 'private',
      diskFormat: 'raw',
      containerFormat: 'bare',
    });
    await engine.embedded.images.upload(caller, id, Buffer.from(content));
    return id;
  };
  const contentOf = async (id: string) => {
    const pieces: Uint8Array[] = [];
    for await (const chunk of await services.images.download(caller, id)) pieces.push(chunk);
    return Buffer.concat(pieces).toString();
  };

  it('allows drivers to read private images of servers on the host, and no others', async () => {
    const [used, unused] = [await image('used'), await image('unused')];
    await create(used);
    expect(await contentOf(used)).toBe('used');
    await expect(contentOf(unused)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
  });

  it('allows drivers to read the plan of their networks, and to place routers', async () => {
    const id = await create(imageId, 'auto');
    const plan = await services.networks.networkPlan?.([id], { self: 'h1', alive: [] });
    expect(plan).toMatchObject({ ports: [{ serverId: id }], routers: [{ host: 'h1' }] });
    await expect(services.networks.networkPlan?.([id], { self: 'h2', alive: [] })).rejects.toThrow(
      'row-level security',
    );
  });

  it('allows the host to report that a guest has ended', async () => {
    const id = await create(imageId);
    driver.end(id);
    await expect.poll(async () => (await engine.servers.get(context, id)).vmState).toBe('stopped');
    const [stop] = await engine.instanceActions.list(id);
    expect(stop).toMatchObject({ action: 'stop', userId: caller.userId, projectId: 'p1' });
  });

  it('allows drivers to find the hosts of volumes, but not to change them', async () => {
    const id = randomUUID();
    await owner.query(`insert into volume_homes (volume_id, host, created_at) values ('${id}', 'h2', 0)`);
    expect(await services.hosts!.volumeHost(id)).toBe('h2');
    const client = new pg.Client(database.replace(/\/\/[^@/]*@?/, `//${role}:password@`));
    await client.connect();
    await expect(client.query("update volume_homes set host = 'h1'")).rejects.toThrow('permission denied');
    await client.end();
  });

  it('allows drivers to read volumes only if the host stores volumes', async () => {
    const { id } = await engine.embedded.volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1 });
    const seen = () => services.volumes.getVolume(caller, id);
    await expect(seen()).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    await grantHostRole(database, { host: 'h1', role, volumes: true });
    expect(await seen()).toMatchObject({ id });
    await grantHostRole(database, { host: 'h1', role });
    await expect(seen()).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  it('reduces the MTU of networks for tunnels when it is granted, because the host itself may not change it', async () => {
    const { id } = await engine.embedded.networks.createNetwork(caller, { name: 'net' });
    const mtu = async () => (await engine.embedded.networks.getNetwork(caller, id)).mtu;
    expect(await mtu()).toBe(1500);
    await grantHostRole(database, { host: 'h1', role, tunnelAddress: '192.0.2.1' });
    expect(await mtu()).toBe(1450);
  });

  it('allows the host to announce its fence, and to withdraw it', async () => {
    const fences = async () =>
      (await owner.query(`select data::json->'process'->'fences' as fences from nodes where host = 'h1'`)).rows[0]
        .fences;
    expect(await fences()).toBe(true);
    driver.guard.broken = true;
    await expect.poll(fences).toBeNull();
    driver.guard.broken = false;
    await expect.poll(fences).toBe(true);
    await host?.stop();
    host = undefined;
    expect(await fences()).toBeNull();
  });

  it('must be limited by row level security', async () => {
    const limits = (name: string) => grantHostRole(database, { host: 'h1', role: name });
    await expect(limits('nobody_here')).rejects.toThrow('create role "nobody_here" login');
    await expect(limits(owner.user!)).rejects.toThrow('is a superuser');
    await owner.query(`grant create on schema public to ${role}`);
    await expect(limits(role)).rejects.toThrow('may create tables and functions');
    await owner.query(`revoke create on schema public from ${role}`);
    await limits(role);
    await expect(grantHostRole(':memory:', { host: 'h1', role })).rejects.toThrow('only in PostgreSQL');
    const empty = await freshDatabase(postgresUrl);
    await expect(grantHostRole(empty, { host: 'h1', role })).rejects.toThrow('run db migrate');
  });
});
