import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createHost, type Host } from '@apistrata/compute-engine/hosts';
import { qemuDriver } from '@apistrata/qemu';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { missingForVolumes } from '../../../../packages/qemu/test/volume-backend-suite.js';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { findProgram } from '../../../../testing/servers.js';
import { type CloudUnderTest, startCloud } from './cloud-under-test.js';

const postgresUrl = inject('postgresUrl');
const missing =
  missingForVolumes() ??
  (findProgram('qemu-system-x86_64') ? undefined : 'qemu-system-x86_64') ??
  (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: volumes on several hosts: this machine has no ${missing} ***\n`);

const NAMES = ['h1', 'h2'] as const;
const poolOf = (name: string) => `${name}@volumes#pool`;

describe.skipIf(missing)('the volume service of a cloud with several hosts that store volumes', () => {
  const folder = machineDirectory();
  const hosts = new Map<string, Host>();
  let cloud: CloudUnderTest;
  let token: string;

  const send = async (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) =>
    (await cloud.send(method, path, token, body, { 'OpenStack-API-Version': 'volume 3.71' })).body;
  const volume = (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) =>
    send(method, `/volume/v3/${path}`, body);

  /** Creates a volume, and returns its id, status, zone and host. */
  const create = async (fields: object = {}) => {
    const { id } = (await volume('post', 'volumes', { volume: { size: 1, ...fields } })).volume;
    const shown = (await volume('get', `volumes/${id}`)).volume;
    return { id, status: shown.status, zone: shown.availability_zone, host: shown['os-vol-host-attr:host'] };
  };
  const pools = async () => (await volume('get', 'scheduler-stats/get_pools?detail=true')).pools;
  const volumeServices = async () => (await volume('get', 'os-services?binary=cinder-volume')).services;

  beforeAll(async () => {
    const secretKeyFile = join(folder, 'secret-key');
    writeFileSync(secretKeyFile, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
    const database = await freshDatabase(postgresUrl);
    const setting = ['--setting', 'serviceDownSeconds=2'];
    cloud = await startCloud(database, '--driver', 'none', '--secret-key-file', secretKeyFile, ...setting);
    token = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
    for (const name of NAMES) {
      const driver = qemuDriver({ directory: join(folder, name), volumes: true, acceleration: 'tcg' });
      const options = { database, secretKeyFile, name, driver, address: '127.0.0.1', heartbeatMs: 200 };
      hosts.set(name, await createHost({ ...options, serviceDownSeconds: 2 }));
      await volume('post', 'types', { volume_type: { name, extra_specs: { host: name } } });
    }
  }, 60_000);
  afterAll(async () => {
    for (const host of hosts.values()) await host.stop();
    await cloud?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('lists a pool and a service for each host', async () => {
    expect((await pools()).map(({ name }: { name: string }) => name)).toEqual(NAMES.map(poolOf));
    const [{ capabilities }] = await pools();
    expect(capabilities).toMatchObject({ volume_backend_name: 'directory', host: 'h1', provisioned_capacity_gb: 0 });
    expect(capabilities.free_capacity_gb).toBeGreaterThan(0);
    const service = { binary: 'cinder-volume', zone: 'nova', state: 'up', status: 'enabled', backend_state: 'up' };
    expect(await volumeServices()).toMatchObject(NAMES.map((name) => ({ ...service, host: `${name}@volumes` })));
    expect(await volume('get', 'capabilities/h2@volumes')).toMatchObject({ volume_backend_name: 'directory' });
  });

  it('shows the host that the type of a volume selects, and counts the volume there', async () => {
    for (const name of NAMES)
      expect(await create({ volume_type: name })).toMatchObject({ status: 'available', host: poolOf(name) });
    await create({ volume_type: 'h2', size: 2 });
    const provisioned = (await pools()).map(({ capabilities }: { capabilities: Record<string, unknown> }) => [
      capabilities.host,
      capabilities.provisioned_capacity_gb,
    ]);
    expect(provisioned).toEqual([
      ['h1', 1],
      ['h2', 3],
    ]);
    const [{ resource }] = (await volume('get', 'os-hosts/h2@volumes')).host;
    expect(resource).toMatchObject({ host: 'h2@volumes', volume_count: '2', total_volume_gb: '3' });
  });

  it('sets the status error, and reports why, if no host has room', async () => {
    const [one] = (await volume('get', 'volumes/detail')).volumes;
    const unlimited = { quota_set: { gigabytes: -1, volumes: -1 } };
    await volume('put', `os-quota-sets/${one['os-vol-tenant-attr:tenant_id']}`, unlimited);
    const { id, status } = await create({ size: 10_000_000 });
    expect(status).toBe('error');
    const [message] = (await volume('get', `messages?resource_uuid=${id}`)).messages;
    expect(message).toMatchObject({ user_message: expect.stringContaining('Could not find any available') });
  });

  it('creates no volumes on a host whose service is disabled', async () => {
    const service = { binary: 'cinder-volume', host: 'h1@volumes' };
    await volume('put', 'os-services/disable', service);
    expect(await create()).toMatchObject({ status: 'available', host: poolOf('h2') });
    expect(await create({ volume_type: 'h1' })).toMatchObject({ status: 'error' });
    await volume('put', 'os-services/enable', service);
    expect(await create({ volume_type: 'h1' })).toMatchObject({ status: 'available' });
  });

  it('keeps the type of a volume if its host does not meet the extra specs of the new type', async () => {
    const { id } = await create({ volume_type: 'h1' });
    const typeAfter = async (new_type: string) => {
      await volume('post', `volumes/${id}/action`, { 'os-retype': { new_type } });
      return (await volume('get', `volumes/${id}`)).volume.volume_type;
    };
    expect(await typeAfter('h2')).toBe('h1');
    await volume('post', 'types', { volume_type: { name: 'any' } });
    expect(await typeAfter('any')).toBe('any');
  });

  it('creates a volume in the requested availability zone of the hosts', async () => {
    const { aggregate } = await send('post', '/compute/v2.1/os-aggregates', {
      aggregate: { name: 'rack', availability_zone: 'rack' },
    });
    const body = { add_host: { host: 'h1' } };
    await send('post', `/compute/v2.1/os-aggregates/${aggregate.id}/action`, body);
    const { availabilityZoneInfo } = await volume('get', 'os-availability-zone');
    expect(availabilityZoneInfo.map(({ zoneName }: { zoneName: string }) => zoneName).sort()).toEqual(['nova', 'rack']);
    for (const [zone, name] of [
      ['rack', 'h1'],
      ['nova', 'h2'],
    ] as const)
      expect(await create({ availability_zone: zone })).toMatchObject({ zone, host: poolOf(name) });
    const rejected = await volume('post', 'volumes', { volume: { size: 1, availability_zone: 'elsewhere' } });
    expect(rejected).toEqual({
      badRequest: { code: 400, message: "Availability zone 'elsewhere' is invalid." },
    });
  });

  it.each([
    ['qcow2', 'qcow2'],
    ['vhd', 'vpc'],
  ])('copies the data of a volume on another host to an image with the format %s', async (format, qemuFormat) => {
    const data = randomBytes(100_000);
    const image = { name: 'data', disk_format: 'raw', container_format: 'bare', os_distro: 'debian' };
    const { id: imageRef } = await send('post', '/image/v2/images', image);
    const binary = { 'Content-Type': 'application/octet-stream' };
    await cloud.send('put', `/image/v2/images/${imageRef}/file`, token, data as unknown as string, binary);
    const { id } = await create({ volume_type: 'h2', imageRef });
    const contents = readdirSync(join(folder, 'h2/contents'));
    const action = { 'os-volume_upload_image': { image_name: 'copy', disk_format: format } };
    const { image_id } = (await volume('post', `volumes/${id}/action`, action))['os-volume_upload_image'];
    const copy = await send('get', `/image/v2/images/${image_id}`);
    expect(copy).toMatchObject({ status: 'active', disk_format: format, os_distro: 'debian' });
    expect(copy).not.toHaveProperty('image_name');
    const path = `/image/v2/images/${image_id}/file`;
    const { body } = await request(cloud.app).get(path).set('X-Auth-Token', token).responseType('blob');
    const [file, disk] = [join(folder, format), join(folder, `${format}.raw`)];
    writeFileSync(file, body);
    execFileSync('qemu-img', ['convert', '-f', qemuFormat, '-O', 'raw', file, disk]);
    expect(statSync(disk).size).toBeGreaterThanOrEqual(2 ** 30);
    const beginning = Buffer.alloc(data.length);
    const descriptor = openSync(disk, 'r');
    readSync(descriptor, beginning);
    closeSync(descriptor);
    expect(beginning.equals(data)).toBe(true);
    expect(readdirSync(join(folder, 'h2/contents'))).toEqual(contents);
  });

  it('creates no image of a volume whose data cannot be read', async () => {
    const { id } = await create({ volume_type: 'h2' });
    const link = join(folder, 'h2/volumes', id);
    const disk = join(folder, 'h2/contents', readlinkSync(link), 'disk.qcow2');
    renameSync(disk, `${disk}.lost`);
    const action = { 'os-volume_upload_image': { image_name: 'lost' } };
    expect(await volume('post', `volumes/${id}/action`, action)).toMatchObject({ computeFault: { code: 503 } });
    expect((await send('get', '/image/v2/images?name=lost')).images).toEqual([]);
  });

  it('shows a host that is down, and creates no volumes there', async () => {
    await hosts.get('h2')!.stop();
    hosts.delete('h2');
    await eventually(
      async () =>
        expect(await volumeServices()).toMatchObject([
          { host: 'h1@volumes', state: 'up' },
          { host: 'h2@volumes', state: 'down', backend_state: 'down' },
        ]),
      { timeout: 30_000 },
    );
    expect((await pools()).map(({ name }: { name: string }) => name)).toEqual([poolOf('h1')]);
    expect(await create({ volume_type: 'h2' })).toMatchObject({ status: 'error' });
    expect(await create()).toMatchObject({ status: 'available', host: poolOf('h1') });
  });
});
