import { randomUUID } from 'node:crypto';
import { coreOf } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../api-under-test.js';
import { Cloud } from './cloud.js';

const message = ({ status, body }: { status: number; body: any }) => [
  status,
  (Object.values(body ?? {})[0] as { message?: string } | undefined)?.message,
];

/** Details that can be observed only in the running original service. */
describe('details of the original', () => {
  let cloud: Cloud;
  let admin: Client;
  let ada: Client;
  beforeAll(async () => {
    cloud = await Cloud.open();
    admin = cloud.as('2.104');
    ada = cloud.api.as('ada:p1', '2.100');
  });
  afterAll(async () => {
    expect(cloud.api.errors).toEqual([]);
    await cloud.api.close();
  });

  it('servers show the standard properties of their image since 2.98, truncated to 255 bytes', async () => {
    const properties = {
      os_command_line: `${'é'.repeat(127)}ab`,
      hw_vif_model: 'virtio',
      architecture: 'x86_64',
      colour: 'blue',
      kernel_id: '',
      image_type: 'snapshot',
      instance_uuid: randomUUID(),
      base_image_ref: randomUUID(),
      user_id: 'ada',
      owner_id: 'p1',
    };
    const id = await cloud.image(properties);
    await cloud.api.engine.catalogs.images.upload(
      { userId: 'admin', projectId: 'p1', roles: ['admin'], isAdmin: true },
      id,
      Buffer.from('content'),
    );
    const server = await cloud.server([], { imageRef: id });
    expect((await admin.get(`/servers/${server.id}`)).body.server.image.properties).toEqual({
      os_command_line: `${'é'.repeat(127)}a`,
      hw_vif_model: 'virtio',
      architecture: 'x86_64',
      owner_id: 'p1',
    });
    expect((await cloud.as('2.97').get(`/servers/${server.id}`)).body.server.image).not.toHaveProperty('properties');
  });

  it('a server can be pinned again to its zone', async () => {
    const { id } = await cloud.server();
    const pin = (zone: string | null) => admin.put(`/servers/${id}`, { server: { pinned_availability_zone: zone } });
    expect(message(await pin('other'))).toEqual([
      409,
      "Server can only be pinned to its current availability zone 'nova', but 'other' was requested.",
    ]);
    for (const zone of ['nova', 'nova', null, 'nova']) {
      const pinned = await pin(zone);
      expect([pinned.status, pinned.body.server.pinned_availability_zone]).toEqual([200, zone]);
    }
    expect(message(await pin('other'))).toEqual([
      409,
      'Cannot change pinned availability zone directly. Unpin first by setting pinned_availability_zone to null.',
    ]);
  });

  it('a server with a share is neither rebuilt nor suspended', async () => {
    const { id } = await cloud.server(['os-stop']);
    const shared = await cloud.as('2.97').post(`/servers/${id}/shares`, { share: { share_id: await cloud.share() } });
    expect(shared.status).toBe(201);
    await cloud.api.idle();
    await admin.act(id, 'os-start');
    const text = 'Feature not supported with instances that have shares.';
    expect(message(await admin.act(id, 'rebuild', { imageRef: cloud.ids.image }))).toEqual([400, text]);
    expect(message(await admin.act(id, 'suspend'))).toEqual([409, text]);
    expect(message(await admin.act(id, 'migrate'))).toEqual([409, text]);
    expect((await admin.get(`/servers/${id}`)).body.server.status).toBe('ACTIVE');
  });

  describe('aggregates', () => {
    it('do not cache unknown images', async () => {
      const id = await cloud.aggregate();
      const unknown = randomUUID();
      const cached = (...ids: string[]) =>
        admin.post(`/os-aggregates/${id}/images`, { cache: ids.map((image) => ({ id: image })) });
      expect(message(await cached(cloud.ids.image, unknown))).toEqual([400, `Image ${unknown} could not be found.`]);
      expect((await cached(cloud.ids.image)).status).toBe(202);
      expect((await admin.post('/os-aggregates/999999/images', { cache: [{ id: unknown }] })).status).toBe(404);
    });

    it('change updated_at with their name and metadata, but not with their hosts', async () => {
      const created = await admin.post('/os-aggregates', { aggregate: { name: cloud.name('aggregate') } });
      const { id } = created.body.aggregate;
      const act = async (action: string, body: unknown) =>
        (await admin.post(`/os-aggregates/${id}/action`, { [action]: body })).body.aggregate.updated_at;
      expect(await act('add_host', { host: 'host59' })).toBeNull();
      expect(await act('remove_host', { host: 'host59' })).toBeNull();
      const dated = await act('set_metadata', { metadata: { a: 'b' } });
      expect(dated).toEqual(expect.any(String));
      expect(await act('add_host', { host: 'host59' })).toBe(dated);
      await act('remove_host', { host: 'host59' });
    });
  });

  it.each(['/servers', '/servers/detail', '/os-migrations'])(
    'an empty marker of %s returns the first page',
    async (path) => {
      await cloud.server(['migrate']);
      const [first, same] = [await admin.get(`${path}?limit=1`), await admin.get(`${path}?limit=1&marker=`)];
      const items = ({ body }: typeof first) => (body.servers ?? body.migrations).map(({ id }: any) => id);
      expect([same.status, items(same)]).toEqual([200, items(first)]);
      expect(items(same)).toHaveLength(1);
    },
  );

  it('an unattached volume is not found in any state of the server', async () => {
    for (const actions of [[], ['suspend']]) {
      const { id } = await cloud.server(actions);
      const path = `/servers/${id}/os-volume_attachments/${await cloud.volume()}`;
      for (const version of ['2.84', '2.85', '2.100']) {
        const body = { volumeAttachment: { volumeId: await cloud.volume() } };
        expect((await cloud.as(version).put(path, body)).status).toBe(404);
      }
    }
  });

  it.each([
    ['ERROR', [['os-resetState', { state: 'error' }]]],
    ['RESCUE', ['rescue']],
    ['SHELVED_OFFLOADED', ['shelve', 'shelveOffload']],
    ['VERIFY_RESIZE', ['migrate']],
  ] as const)('unknown metadata keys return 404 in %s', async (status, actions) => {
    const { id } = await cloud.server(actions);
    expect((await admin.get(`/servers/${id}`)).body.server.status).toBe(status);
    expect(message(await admin.delete(`/servers/${id}/metadata/nope`))).toEqual([404, 'Metadata item was not found']);
  });

  it('the host of a deleted server has no status', async () => {
    const { id } = await cloud.server();
    await admin.act(id, 'forceDelete');
    const { servers } = (await admin.get('/servers/detail?deleted=true&all_tenants=1')).body;
    expect(servers.find((server: any) => server.id === id)).toMatchObject({ status: 'DELETED', host_status: '' });
  });

  it('a power-update with an unknown tag is accepted, and has no effect', async () => {
    const { id } = await cloud.server();
    const event = { name: 'power-update', server_uuid: id, tag: 'SLEEP' };
    const responded = await admin.post('/os-server-external-events', { events: [event] });
    expect([responded.status, responded.body.events[0].code]).toEqual([200, 200]);
    await cloud.api.idle();
    expect((await admin.get(`/servers/${id}`)).body.server.status).toBe('ACTIVE');
  });

  it('servers that cannot be reached show their security groups in lists with details', async () => {
    const { id } = await cloud.connected();
    const { infrastructure } = coreOf(cloud.api.engine);
    const host = await cloud.hostOf(id);
    infrastructure.setReachable(host, false);
    try {
      const { servers } = (await cloud.as('2.69').get('/servers/detail')).body;
      const server = servers.find((one: any) => one.id === id);
      expect(server).toMatchObject({ status: 'UNKNOWN', security_groups: [{ name: 'default' }] });
    } finally {
      infrastructure.setReachable(host, true);
    }
  });

  describe('messages of the original', () => {
    it('name the action that the state of the server does not allow', async () => {
      const { id } = await cloud.server(['migrate']);
      const migrations = (await admin.get(`/os-migrations?instance_uuid=${id}`)).body.migrations;
      const aborted = await admin.delete(`/servers/${id}/migrations/${migrations[0].id}`);
      expect(message(aborted)).toEqual([409, `Instance ${id} is in an invalid state for 'abort live migration'`]);
    });

    it('name the power state that does not allow diagnostics', async () => {
      const { id } = await cloud.server(['os-stop']);
      expect(message(await cloud.as('2.48').get(`/servers/${id}/diagnostics`))).toEqual([
        409,
        `Cannot 'get_diagnostics' instance ${id} while it is in power state shutdown`,
      ]);
    });

    it('show patterns without slashes around them', async () => {
      const body = (await ada.get('/servers?limit=abc')).body;
      expect(body.badRequest.message).toContain("'abc' does not match '^[0-9]*$'");
    });
  });
});
