import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Api, type Client, ids } from '../api-under-test.js';
import { cloud, known } from './cloud.js';
import { type Creating, caller, creating } from './creating.js';

describe('creating servers', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;
  let post: Creating['post'];
  let createdServer: Creating['createdServer'];
  let volumeOf: Creating['volumeOf'];
  let close: Creating['close'];
  beforeAll(async () => {
    ({ api, ada, admin, post, createdServer, volumeOf, close } = await creating());
  });
  afterAll(() => close());

  it('returns exactly the fields of the table, and the Location of the server', async () => {
    const created = await post(ada, { security_groups: [{ name: 'web' }, { name: 'default' }, { name: 'web' }] });
    expect(created.status).toBe(202);
    const { id } = created.body.server;
    expect(created.body).toEqual({
      server: {
        id,
        links: [
          { rel: 'self', href: `${api.url}/v2.1/servers/${id}` },
          { rel: 'bookmark', href: `${api.url}/servers/${id}` },
        ],
        'OS-DCF:diskConfig': 'MANUAL',
        security_groups: [{ name: 'web' }, { name: 'default' }],
        adminPass: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
      },
    });
    expect(created.headers.get('location')).toBe(`${api.url}/v2.1/servers/${id}`);
  });

  it('returns no password if passwords are disabled', async () => {
    const silent = await cloud({ engine: { settings: { enableInstancePassword: false } } });
    const { server } = (await post(silent.as('ada:p1', '2.100'), { adminPass: 'secret' })).body;
    expect(server).not.toHaveProperty('adminPass');
    await silent.close();
  });

  it('stores all requested fields', async () => {
    await ada.post('/os-keypairs', { keypair: { name: 'mine', type: 'ssh', public_key: PUBLIC_KEY } });
    const created = await post(ada, { adminPass: 'secret' });
    expect(created.body.server.adminPass).toBe('secret');
    const server = await createdServer(
      {
        name: 'every thing',
        description: 'of note',
        flavorRef: `${api.url}/flavors/2`,
        metadata: { a: 'b' },
        'OS-DCF:diskConfig': 'AUTO',
        accessIPv4: '192.0.2.1',
        accessIPv6: '2001:db8::1',
        availability_zone: 'west',
        config_drive: 'yes',
        key_name: 'mine',
        user_data: 'aGVsbG8=',
        tags: ['x', 'y', 'x'],
        hostname: 'web.example.org',
        trusted_image_certificates: ['c1'],
        networks: [{ uuid: ids.network, fixed_ip: '10.0.3.3', tag: 'nic' }],
        security_groups: [{ name: 'web' }],
      },
      { hints: { different_host: known.nothing, rack: { row: 3 }, _nova_secret: '1' } },
    );
    expect(server).toMatchObject({
      status: 'ACTIVE',
      name: 'every thing',
      description: 'of note',
      flavor: { original_name: 'm1.small' },
      metadata: { a: 'b' },
      'OS-DCF:diskConfig': 'AUTO',
      accessIPv4: '192.0.2.1',
      accessIPv6: '2001:db8::1',
      'OS-EXT-AZ:availability_zone': 'west',
      'OS-EXT-SRV-ATTR:host': 'host2',
      pinned_availability_zone: 'west',
      config_drive: 'True',
      key_name: 'mine',
      'OS-EXT-SRV-ATTR:user_data': 'aGVsbG8=',
      'OS-EXT-SRV-ATTR:hostname': 'web.example.org',
      trusted_image_certificates: ['c1'],
      security_groups: [{ name: 'web' }],
      scheduler_hints: { different_host: [known.nothing], rack: ['{"row":3}'] },
    });
    expect(server.tags.sort()).toEqual(['x', 'y']);
    expect(server.addresses.private[0].addr).toBe('10.0.3.3');
  });

  it('uses the name as description until 2.18, and null since 2.19', async () => {
    expect((await createdServer({ networks: [] }, { client: api.as('ada:p1', '2.18') })).description).toBe('web');
    expect((await createdServer({ networks: [] }, { client: api.as('ada:p1', '2.19') })).description).toBeNull();
  });

  it.each([
    ['My Server_1.example', 'my-server-1-example'],
    ['Füchse! 狐', 'füchse'],
    ['--.x.--', 'x'],
    ['a'.repeat(80), 'a'.repeat(63)],
  ])('derives the hostname of %s', async (name, hostname) => {
    expect((await createdServer({ name }))['OS-EXT-SRV-ATTR:hostname']).toBe(hostname);
  });

  it('derives the hostname from the id if the name has no valid character', async () => {
    const server = await createdServer({ name: '狐' });
    expect(server['OS-EXT-SRV-ATTR:hostname']).toBe(`Server-${server.id}`);
  });

  it.each([
    ['description', 'x', '2.19', undefined],
    ['tags', ['x'], '2.52', undefined],
    ['trusted_image_certificates', ['x'], '2.63', undefined],
    ['host', 'host1', '2.74', undefined],
    ['hypervisor_hostname', 'node1', '2.74', undefined],
    ['hostname', 'web', '2.90', undefined],
    ['personality', [{ path: '/a', contents: 'YQ==' }], '2.1', '2.56'],
  ])('accepts %s only in its window', async (field, value, first, last) => {
    const status = async (version: string) =>
      (
        await post(api.as('admin:p1', version), {
          networks: Number(version.slice(2)) < 37 ? [] : 'none',
          [field]: value,
        })
      ).status;
    expect(await status(first)).toBe(202);
    if (first !== '2.1') expect(await status(before(first))).toBe(400);
    expect(await status(last ?? '2.100')).toBe(202);
    if (last) expect(await status(after(last))).toBe(400);
  });

  it('accepts an FQDN as hostname since 2.94', async () => {
    expect((await post(api.as('ada:p1', '2.93'), { hostname: 'a.b' })).status).toBe(400);
    expect((await post(api.as('ada:p1', '2.94'), { hostname: 'a.b' })).status).toBe(202);
    expect((await post(api.as('ada:p1', '2.93'), { hostname: 'a' })).status).toBe(400);
    expect((await post(api.as('ada:p1', '2.94'), { hostname: 'a' })).status).toBe(202);
  });

  it.each([
    ['2.31', 400, 400],
    ['2.32', 202, 202],
    ['2.33', 202, 400],
    ['2.36', 202, 400],
    ['2.37', 400, 400],
    ['2.41', 400, 400],
    ['2.42', 202, 202],
  ])('at %s returns %i for tags of networks and %i for tags of disks', async (version, network, disk) => {
    const client = api.as('ada:p1', version);
    expect((await post(client, { networks: [{ uuid: ids.network, tag: 'x' }] })).status).toBe(network);
    const root = { source_type: 'image', uuid: ids.image, destination_type: 'local', boot_index: 0, tag: 'x' };
    expect((await post(client, { networks: [{ uuid: ids.network }], block_device_mapping_v2: [root] })).status).toBe(
      disk,
    );
  });

  it('accepts a volume type for a disk since 2.67', async () => {
    const root = { source_type: 'image', uuid: ids.image, destination_type: 'volume', boot_index: 0, volume_size: 1 };
    const fields = { imageRef: '', block_device_mapping_v2: [{ ...root, volume_type: 'standard' }] };
    expect((await post(api.as('ada:p1', '2.66'), fields)).status).toBe(400);
    const server = await createdServer(fields, { client: api.as('ada:p1', '2.67') });
    expect((await volumeOf(server['os-extended-volumes:volumes_attached'][0].id)).volumeType).toBe('standard');
  });

  describe('on networks', () => {
    it('uses the only network by default until 2.36', async () => {
      for (const networks of [undefined, []]) {
        const server = await createdServer({ networks }, { client: api.as('ada:p1', '2.36') });
        expect(Object.keys(server.addresses)).toEqual(['private']);
      }
      expect(Object.keys((await createdServer({ networks: [] })).addresses)).toEqual(['private']);
    });

    it('has no interface with "none"', async () => {
      expect((await createdServer({ networks: 'none' })).addresses).toEqual({});
    });

    it('accepts external networks for administrators, and existing ports', async () => {
      const outside = await createdServer({ networks: [{ uuid: ids.publicNetwork }] }, { client: admin });
      expect(Object.keys(outside.addresses)).toEqual(['public']);
      const port = await api.engine.embedded.networks.createPort(caller, { networkId: ids.network });
      const server = await createdServer({ networks: [{ port: port.id }] });
      expect(server.addresses.private[0].addr).toBe(port.fixedIps[0]!.address);
      await ada.delete(`/servers/${server.id}`);
      await api.idle();
      expect((await api.engine.catalogs.networks.getPort(caller, port.id)).deviceId).toBe('');
    });

    it('creates a network for auto', async () => {
      const other = await cloud();
      const client = other.as('ada:p1', '2.37');
      await post(client, { networks: 'auto' });
      await other.idle();
      const { servers } = (await client.get('/servers/detail')).body;
      expect([servers[0].status, Object.values(servers[0].addresses).flat().length]).toEqual(['ACTIVE', 1]);
      await other.close();
    });

    it('accepts ports with resource requests since 2.72', async () => {
      const found = await api.engine.embedded.networks.createPort(caller, { networkId: ids.network });
      const spy = vi
        .spyOn(api.engine.catalogs.networks, 'getPort')
        .mockResolvedValue({ ...found, hasResourceRequest: true });
      expect((await post(api.as('ada:p1', '2.72'), { networks: [{ port: found.id }] })).status).toBe(202);
      spy.mockRestore();
      await api.idle();
    });
  });

  describe('several servers in one request', () => {
    it('numbers the names and launch indexes, and returns the first server', async () => {
      const created = await post(ada, { name: 'many', min_count: '2', max_count: 3 });
      await api.idle();
      const { servers } = (await admin.get('/servers/detail?name=^many&sort_key=display_name&sort_dir=asc')).body;
      expect(
        servers.map((s: any) => [s.name, s['OS-EXT-SRV-ATTR:hostname'], s['OS-EXT-SRV-ATTR:launch_index']]),
      ).toEqual([
        ['many-1', 'many-1', 0],
        ['many-2', 'many-2', 1],
        ['many-3', 'many-3', 2],
      ]);
      expect(new Set(servers.map((s: any) => s['OS-EXT-SRV-ATTR:reservation_id'])).size).toBe(1);
      expect(servers[0].id).toBe(created.body.server.id);
    });

    it('returns only the reservation on request', async () => {
      const created = await post(ada, { name: 'group', min_count: 2, return_reservation_id: true });
      expect(created.status).toBe(202);
      expect(created.body).toEqual({ reservation_id: expect.stringMatching(/^r-[a-z0-9]{8}$/) });
      expect(created.headers.get('location')).toBeNull();
      const found = await ada.get(`/servers?reservation_id=${created.body.reservation_id}`);
      expect(found.body.servers).toHaveLength(2);
    });

    it('creates an interface and a disk for each', async () => {
      await post(ada, { name: 'twin', min_count: 2, networks: [{ uuid: ids.network }] });
      await api.idle();
      const { servers } = (await ada.get('/servers/detail?name=^twin')).body;
      expect(new Set(servers.map((s: any) => s.addresses.private[0].addr)).size).toBe(2);
    });

    it('creates as many as the quota allows between min_count and max_count', async () => {
      const small = await cloud({ engine: { settings: { quotas: { instances: 3 } as never } } });
      const client = small.as('ada:p1', '2.100');
      expect((await post(client, { name: 'a' })).status).toBe(202);
      expect((await post(client, { name: 'b', min_count: 1, max_count: 5 })).status).toBe(202);
      expect((await client.get('/servers')).body.servers.map((s: any) => s.name).sort()).toEqual(['a', 'b-1', 'b-2']);
      expect((await post(client, { min_count: 1, max_count: 5 })).status).toBe(403);
      await small.close();
    });
  });
});

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJOzKhBOh+NuV09X3C1Ms+L3ZHPmV5pA3Ce5q4n8L1ZQ ada@example';

function before(version: string): string {
  return `2.${Number(version.slice(2)) - 1}`;
}

function after(version: string): string {
  return `2.${Number(version.slice(2)) + 1}`;
}
