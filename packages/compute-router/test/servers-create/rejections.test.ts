import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { policies } from '../../src/index.js';
import { type Api, type Client, ids } from '../api-under-test.js';
import { cloud, known, plain } from './cloud.js';

const image = { source_type: 'image', uuid: ids.image, destination_type: 'local', boot_index: 0 };
const root = { source_type: 'volume', uuid: known.rootVolume, destination_type: 'volume', boot_index: 0 };
const fromImage = { source_type: 'image', uuid: ids.image, destination_type: 'volume', boot_index: 0, volume_size: 2 };
const disks = (...list: object[]) => ({ imageRef: '', block_device_mapping_v2: list });
const withImage = (...list: object[]) => ({ block_device_mapping_v2: [image, ...list] });
const swap = { source_type: 'blank', destination_type: 'local', guest_format: 'swap' };
const ephemeral = { source_type: 'blank', destination_type: 'local' };

interface Case {
  readonly title: string;
  readonly fields: Record<string, unknown>;
  readonly hints?: object;
  readonly version?: string;
  readonly token?: string;
  readonly status: 400 | 403 | 409;
  readonly message?: string;
}

const rejected =
  (status: Case['status'], version?: string) =>
  (title: string, fields: object, more: Partial<Case> = {}): Case => ({
    title,
    fields: fields as Record<string, unknown>,
    status,
    version,
    ...more,
  });
const bad = rejected(400);
const denied = rejected(403);

const cases: readonly Case[] = [
  bad('no image and no disk', { imageRef: undefined }, { message: 'imageRef' }),
  bad('an unknown image', { imageRef: known.nothing }),
  bad('an image without content', { imageRef: known.sleepingImage }, { message: 'not active' }),
  bad('an image that is not a UUID', { imageRef: 'cirros' }),
  bad('an unknown flavor', { flavorRef: 'nothing' }),
  bad('a flavor with a NUL', { flavorRef: 'a\0b' }),
  bad('a disabled flavor', { flavorRef: '43' }),
  bad('a flavor of other projects', { flavorRef: '44' }),
  bad('a flavor with too small a disk for the image', { imageRef: known.bigImage, flavorRef: ids.small }),
  bad('a flavor with too little memory for the image', { imageRef: known.largeImage }),
  bad(
    'a flavor that contradicts the image',
    { imageRef: known.pinnedImage, flavorRef: '46' },
    { message: 'hw_cpu_policy' },
  ),
  bad('an unknown key', { key_name: 'nothing' }, { message: 'key_name' }),
  bad('a name with blanks around', { name: ' web' }),
  bad('min_count above max_count', { min_count: 3, max_count: 2 }),
  bad('a count of zero', { min_count: 0 }),
  bad('an unknown zone', { availability_zone: 'north' }, { message: 'availability zone' }),
  bad('a zone with three colons', { availability_zone: 'a:b:c:d' }, { token: 'admin:p1' }),
  bad('an unknown host', { host: 'host9' }, { token: 'admin:p1' }),
  bad('an unknown hypervisor', { hypervisor_hostname: 'node9' }, { token: 'admin:p1' }),
  bad('a host with the hypervisor of another', { host: 'host1', hypervisor_hostname: 'node2' }, { token: 'admin:p1' }),
  bad('a host named twice', { host: 'host1', availability_zone: 'east:host1' }, { token: 'admin:p1' }),
  bad('an unknown server group', {}, { hints: { group: known.nothing } }),
  bad('a group that is not a UUID', {}, { hints: { group: 'mine' } }),
  bad('several groups', {}, { hints: { group: [known.nothing] } }),
  bad('hints nested without end', {}, { hints: { x: nested(40) } }),
  bad('an unknown network', { networks: [{ uuid: known.nothing }] }),
  bad('an unknown port', { networks: [{ port: known.nothing }] }),
  bad('a network item without uuid and port', { networks: [{}] }),
  bad('a network that is not a UUID', { networks: [{ uuid: 'private' }] }, { version: '2.1' }),
  bad('the same port twice', { networks: [{ port: known.nothing }, { port: known.nothing }] }, { message: 'twice' }),
  bad('a port with a fixed IP', { networks: [{ port: known.nothing, fixed_ip: '10.0.0.9' }] }, { message: 'Fixed IP' }),
  bad('a fixed IP outside the subnet', { networks: [{ uuid: ids.network, fixed_ip: '192.168.0.9' }] }),
  bad(
    'several servers with one port',
    { networks: [{ port: known.nothing }], max_count: 2 },
    { message: 'single port' },
  ),
  bad('several servers with one fixed IP', { networks: [{ uuid: ids.network, fixed_ip: '10.0.0.9' }], max_count: 2 }),
  bad('several servers with one hostname', { hostname: 'one', max_count: 2 }),
  bad('an unknown security group', { security_groups: [{ name: 'nothing' }] }),
  bad('51 tags', { tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }),
  bad('a tag with a comma', { tags: ['a,b'] }),
  bad('user data that is not base64', { user_data: 'not base64!' }),
  bad('an unknown key in the body', { colour: 'red' }),
  bad('no networks since 2.37', { networks: undefined }, { version: '2.37' }),
  bad('trusted certificates of a volume-backed server', { ...disks(root), trusted_image_certificates: ['a'] }),
  bad('certificates listed twice', { trusted_image_certificates: ['a', 'a'] }),

  bad('both notations of disks', {
    ...withImage(),
    block_device_mapping: [{ volume_id: known.volume, device_name: 'vdb' }],
  }),
  bad('an old disk that is nothing', { block_device_mapping: [{ device_name: 'vdb' }] }),
  bad('a volume in the older notation on the root device in addition to an image', {
    block_device_mapping: [{ volume_id: known.volume, device_name: 'vda' }],
  }),
  bad('a disk without source_type', disks({ uuid: known.rootVolume, boot_index: 0 })),
  bad('a blank disk with a uuid', withImage({ ...swap, uuid: known.volume })),
  bad('a volume without a uuid', disks({ source_type: 'volume', destination_type: 'volume', boot_index: 0 })),
  bad('an image as local disk without imageRef', disks(image)),
  bad('an image as second local disk', withImage({ ...image, boot_index: 1 })),
  bad('disks in addition to an image that is not listed', { block_device_mapping_v2: [{ ...root, boot_index: -1 }] }),
  bad('a root volume from an image other than imageRef, too small for that image', {
    flavorRef: ids.small,
    block_device_mapping_v2: [{ ...fromImage, uuid: known.bigImage }],
  }),
  bad('a root volume from an unknown image in addition to an image', {
    block_device_mapping_v2: [{ ...fromImage, uuid: known.nothing }],
  }),
  bad('a volume from an image without a size', disks({ ...fromImage, volume_size: undefined })),
  bad('a blank volume without a size', disks(root, { source_type: 'blank', destination_type: 'volume' })),
  bad('a volume_type for a local disk', withImage({ ...swap, volume_type: 'standard' })),
  bad('a volume_type for a volume that exists', disks({ ...root, volume_type: 'standard' })),
  bad('an unknown volume_type', disks({ ...fromImage, volume_type: 'nothing' })),
  bad('no bootable disk', disks({ ...root, boot_index: -1 })),
  bad('boot indexes with a gap', disks(root, { ...fromImage, boot_index: 2 })),
  bad('the same boot index twice', disks(root, fromImage)),
  bad('two swap disks', { flavorRef: '45', ...withImage({ ...swap, volume_size: 1 }, { ...swap, volume_size: 1 }) }),
  bad('more swap than the flavor has', { flavorRef: '45', ...withImage({ ...swap, volume_size: 513 }) }),
  bad('more ephemeral disk than the flavor has', { flavorRef: '45', ...withImage({ ...ephemeral, volume_size: 5 }) }),
  bad('four local disks', {
    flavorRef: '45',
    ...withImage(...[1, 1, 1].map((volume_size) => ({ ...ephemeral, volume_size }))),
  }),
  bad('an unknown bus', withImage({ ...root, boot_index: -1, disk_bus: 'tram' })),
  bad('a device name with a blank', withImage({ ...root, boot_index: -1, device_name: 'vd b' })),
  bad('an unknown volume', disks({ ...root, uuid: known.nothing })),
  bad('a volume of another project', disks({ ...root, uuid: known.foreignVolume })),
  bad('an unknown snapshot', disks({ source_type: 'snapshot', uuid: known.nothing, boot_index: 0 })),
  bad('an unknown image for a volume', disks({ ...fromImage, uuid: known.nothing })),
  bad('a volume smaller than its image', { flavorRef: ids.small, ...disks({ ...fromImage, uuid: known.bigImage }) }),
  bad('a volume in use', disks({ ...root, uuid: known.busyVolume })),
  bad('a root volume that is not bootable', disks({ ...root, uuid: known.volume })),
  bad('the same volume twice', withImage({ ...root, boot_index: -1 }, { ...root, boot_index: null })),
  bad('several servers with one volume', { ...disks(root), max_count: 2 }),
  bad('a shared volume below 2.60', withImage({ ...root, uuid: known.sharedVolume, boot_index: -1 }), {
    version: '2.59',
  }),
  bad('a disk tag at 2.33', { networks: [], ...withImage({ ...root, boot_index: -1, tag: 'x' }) }, { version: '2.33' }),

  denied(
    'more cores than the quota',
    { flavorRef: '5', min_count: 3 },
    { message: 'Quota exceeded for cores: Requested 24, but already used 0 of 20 cores' },
  ),
  denied(
    'more servers than the quota',
    { min_count: 11 },
    { message: 'Requested 11, but already used 0 of 10 instances' },
  ),
  denied('too many metadata items', {
    metadata: Object.fromEntries(Array.from({ length: 129 }, (_, n) => [`k${n}`, 'v'])),
  }),
  denied(
    'too many files',
    { personality: Array.from({ length: 6 }, (_, n) => ({ path: `/${n}`, contents: '' })) },
    { version: '2.56' },
  ),
  denied(
    'a file that is too long',
    { personality: [{ path: '/a', contents: Buffer.alloc(10_241).toString('base64') }] },
    { version: '2.56' },
  ),
  denied('a path that is too long', { personality: [{ path: 'x'.repeat(256), contents: '' }] }, { version: '2.56' }),
  denied('a flavor without a disk for a local root disk', { flavorRef: '42' }, { message: 'zero disk' }),
  denied('an external network', { networks: [{ uuid: ids.publicNetwork }] }),
  denied('a forced host, for a member', { availability_zone: 'east:host1' }, { message: 'forced_host' }),
  denied('a requested host, for a member', { host: 'host1' }, { message: 'requested_destination' }),
  rejected(409)('a security group name that two groups have', { security_groups: [{ name: 'twice' }] }),
];

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

describe('the creation of a server is rejected', () => {
  let api: Api;
  let ada: Client;
  const post = (client: Client, fields: object, hints?: object) =>
    client.post('/servers', { server: { ...plain, ...fields }, ...(hints && { 'os:scheduler_hints': hints }) });

  beforeAll(async () => {
    api = await cloud();
    ada = api.as('ada:p1', '2.100');
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    expect((await ada.get('/servers')).body.servers).toEqual([]);
    expect(await coreOf(api.engine).worker.pending()).toBe(0);
    await api.close();
  });

  it.each(cases)(
    'with $status for $title',
    async ({ fields, hints, version = '2.100', token = 'ada:p1', status, message = '' }) => {
      const responded = await post(api.as(token, version), fields, hints);
      expect([responded.status, responded.body]).toEqual([status, expect.anything()]);
      const [fault] = Object.values(responded.body) as any[];
      expect(fault.code).toBe(status);
      expect(fault.message).toContain(message);
    },
  );

  it('with 409 if several networks are available and none is requested', async () => {
    const other = await cloud({
      preset: {
        ...(await import('./cloud.js')).cloudPreset,
        networks: ['a', 'b'].map((name, n) => ({
          id: n === 0 ? ids.network : known.secondNetwork,
          name,
          subnets: [{ cidr: `10.${n}.0.0/16` }],
        })),
      },
    });
    for (const networks of [undefined, []]) {
      const response = await post(other.as('ada:p1', '2.36'), { networks });
      expect([response.status, response.body.conflictingRequest?.code]).toEqual([409, 409]);
    }
    expect((await post(other.as('ada:p1', '2.37'), { networks: [] })).status).toBe(409);
    await other.close();
  });

  it('with 409 for a port in use and 400 for an address in use', async () => {
    const other = await cloud();
    const client = other.as('ada:p1', '2.100');
    const server = await client.boot({ networks: [{ uuid: ids.network, fixed_ip: '10.0.0.77' }] });
    const [port] = await other.engine.catalogs.networks.listPorts(
      { userId: 'ada', projectId: 'p1', roles: ['member'] },
      { deviceIds: [server.id] },
    );
    expect((await post(client, { networks: [{ port: port!.id }] })).status).toBe(409);
    expect((await post(client, { networks: [{ uuid: ids.network, fixed_ip: '10.0.0.77' }] })).status).toBe(400);
    await other.close();
  });

  it('with 400 for a port with a resource request until 2.71', async () => {
    const port = { id: known.nothing, networkId: ids.network, deviceId: '', hasResourceRequest: true };
    const spy = vi.spyOn(api.engine.catalogs.networks, 'getPort').mockResolvedValue(port as never);
    const response = await post(api.as('ada:p1', '2.71'), { networks: [{ port: known.nothing }] });
    expect([response.status, response.body.badRequest?.message]).toEqual([400, expect.stringContaining('2.72')]);
    spy.mockRestore();
  });

  it('with 403 if the quota of ports is used up, and partially if some remain', async () => {
    const other = await cloud();
    const client = other.as('ada:p1', '2.100');
    const networks = [{ uuid: ids.network }, { uuid: ids.network }];
    const { networks: catalog } = other.engine.catalogs;
    for (const [free, requested, status] of [
      [1, { networks }, 403],
      [0, { networks: [] }, 403],
      [3, { networks, min_count: 2 }, 403],
      [0, { networks: 'none' }, 202],
      [5, { networks, min_count: 1, max_count: 4 }, 202],
    ] as const) {
      Object.assign(catalog, { countFreePorts: async () => free });
      expect((await post(client, requested)).status).toBe(status);
    }
    expect((await client.get('/servers')).body.servers.map((s: any) => s.name).sort()).toEqual([
      'web',
      'web-1',
      'web-2',
    ]);
    await other.close();
  });

  it.each<[string, object]>([
    ['attach_volume', withImage({ ...root, boot_index: -1 })],
    ['attach_network', { networks: [{ uuid: ids.network }] }],
    ['attach_network', { networks: 'auto' }],
    ['trusted_certs', { trusted_image_certificates: ['cert'] }],
  ])('with 403 if the policy denies servers:create:%s, and only with such fields: %j', async (name, fields) => {
    const rule = `os_compute_api:servers:create:${name}`;
    const other = await cloud({ router: { policies: policies({ overrides: { [rule]: '!' } }) } });
    const client = other.as('ada:p1', '2.100');
    const response = await post(client, fields);
    expect([response.status, response.body.forbidden?.message]).toEqual([403, expect.stringContaining(`${rule} `)]);
    expect((await post(client, {})).status).toBe(202);
    await other.close();
  });

  it('with 403 for a caller without a role that servers:create requires', async () => {
    const reader = await post(api.as('eve:p1:reader', '2.100'), {});
    expect([reader.status, reader.body.forbidden?.message]).toEqual([403, expect.stringContaining('servers:create')]);
  });

  it('without leaving a volume reserved', async () => {
    expect((await post(ada, { ...disks(root), min_count: 1, flavorRef: '5', metadata: {} })).status).toBe(202);
    await api.idle();
    const { servers } = (await ada.get('/servers')).body;
    expect((await ada.delete(`/servers/${servers[0].id}`)).status).toBe(204);
    await api.idle();
    const used = await api.engine.catalogs.volumes.getVolume(
      { userId: 'ada', projectId: 'p1', roles: ['member'] },
      known.rootVolume,
    );
    expect([used.status, used.attachments]).toEqual(['available', []]);
  });
});
