import { defaultPreset } from '@apistrata/compute-engine';
import { ManualClock } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';

const quotas = { instances: -1, cores: -1, ram: -1 };
const names = (responded: { body: any }) => responded.body.servers.map((s: any) => s.name).sort();

describe('filters of server lists', () => {
  let api: Api;
  let ada: Client;
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const serverIds: Record<string, any> = {};
  async function boot(fields: object): Promise<any> {
    const server = { flavorRef: ids.tiny, imageRef: ids.image, networks: 'none', ...fields };
    const created = await ada.post('/servers', { server });
    await api.idle();
    return (await ada.get(`/servers/${created.body.server.id}`)).body.server;
  }
  const list = (token: string, version: string, query: string) =>
    api.as(token, version).get(`/servers/detail?${query}`);

  beforeAll(async () => {
    const preset = {
      ...defaultPreset,
      hosts: [
        { ...defaultPreset.hosts![0]!, zone: 'east' },
        { ...defaultPreset.hosts![1]!, zone: 'west' },
      ],
    };
    api = await apiUnderTest({
      engine: { clock, settings: { quotas: quotas as never } },
      preset,
    });
    ada = api.as('ada:p1', '2.100');
    await ada.post('/os-keypairs', { keypair: { name: 'key', type: 'ssh', public_key: PUBLIC_KEY } });
    const requests: [string, object][] = [
      ['web-1', { availability_zone: 'east', networks: [{ uuid: ids.network }], tags: ['red', 'blue'] }],
      ['web-2', { availability_zone: 'west', flavorRef: ids.small, metadata: { a: 'b' } }],
      ['db.1', { availability_zone: 'east', config_drive: true, key_name: 'key' }],
    ];
    for (const [name, more] of requests) {
      await clock.advance(10_000);
      serverIds[name] = await boot({ name, ...more });
    }
    await ada.act(serverIds['web-2'].id, 'os-stop');
    await api.as('bob:p2').boot({ name: 'bobs' });
    serverIds.lost = await boot({ name: 'lost' });
    await ada.delete(`/servers/${serverIds.lost.id}`);
    await api.idle();
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  it.each([
    ['name=web', ['web-1', 'web-2']],
    ['name=^web-1$', ['web-1']],
    ['name=d?b.1$', ['db.1', 'web-1']],
    ['name=^.b[.]1$', ['db.1']],
    ['name=^d', ['db.1']],
    ['name=1$', ['db.1', 'web-1']],
    ['name=web$', []],
    ['name=(?i)WEB', ['web-1', 'web-2']],
    ['name=nothing', []],
    ['status=shutoff', ['web-2']],
    ['status=ACTIVE', ['db.1', 'web-1']],
    ['status=ACTIVE&status=SHUTOFF', ['db.1', 'web-1', 'web-2']],
    ['status=ERROR', []],
    ['status=nonsense&status=ACTIVE', ['db.1', 'web-1']],
    [`flavor=${ids.small}`, ['web-2']],
    ['flavor=nothing', []],
    [`image=${ids.image}`, ['db.1', 'web-1', 'web-2']],
    ['image=70a599e0', []],
    ['ip=10.0.', ['web-1']],
    ['ip=^192', []],
    ['availability_zone=east', ['db.1', 'web-1']],
    ['config_drive=True', ['db.1']],
    ['key_name=^k.y$', ['db.1']],
    ['vm_state=stopped', ['web-2']],
    ['power_state=4', ['web-2']],
    ['user_id=ada', ['db.1', 'web-1', 'web-2']],
    ['user_id=ad', []],
    ['created_at=2026-01-01T00:00:2', ['web-2']],
    ['hostname=db-1', ['db.1']],
    ['launched_at=2026', ['db.1', 'web-1', 'web-2']],
    ['terminated_at=2026', []],
    ['progress=^0$', ['db.1', 'web-1', 'web-2']],
    ['locked=true', []],
    ['locked=no', ['db.1', 'web-1', 'web-2']],
    ['all_tenants=false', ['db.1', 'web-1', 'web-2']],
    ['name=web&status=ACTIVE', ['web-1']],
  ])('%s finds %j for all callers at the newest version', async (query, found) => {
    const response = await list('ada:p1', '2.100', query);
    expect(response.status).toBe(200);
    expect(names(response)).toEqual(found);
  });

  it.each([
    ['tags=red', ['web-1']],
    ['tags=red,blue', ['web-1']],
    ['tags=red,green', []],
    ['tags-any=green,blue', ['web-1']],
    ['not-tags=red,blue', ['db.1', 'web-2']],
    ['not-tags=red,green', ['db.1', 'web-1', 'web-2']],
    ['not-tags-any=green,red', ['db.1', 'web-2']],
    ['tags=red&not-tags-any=green', ['web-1']],
  ])('%s is applied since 2.26 and ignored before', async (query, found) => {
    expect(names(await list('ada:p1', '2.26', query))).toEqual(found);
    expect(names(await list('ada:p1', '2.25', query))).toHaveLength(3);
  });

  it.each([
    ['ip6', '^nothing', '2.5'],
    ['availability_zone', 'nothing', '2.83'],
    ['config_drive', 'nothing', '2.83'],
    ['key_name', 'nothing', '2.83'],
    ['created_at', 'nothing', '2.83'],
    ['launched_at', 'nothing', '2.83'],
    ['terminated_at', 'nothing', '2.83'],
    ['power_state', 'nothing', '2.83'],
    ['task_state', 'nothing', '2.83'],
    ['vm_state', 'nothing', '2.83'],
    ['progress', 'nothing', '2.83'],
    ['user_id', 'nothing', '2.83'],
    ['hostname', 'nothing', '2.90'],
  ])('%s is ignored for members before its version, never for administrators', async (name, value, first) => {
    const [major, minor] = first.split('.').map(Number) as [number, number];
    expect(names(await list('ada:p1', first, `${name}=${value}`))).toEqual([]);
    expect(names(await list('ada:p1', `${major}.${minor - 1}`, `${name}=${value}`))).toHaveLength(3);
    expect(names(await list('admin:p1', '2.1', `${name}=${value}`))).toEqual([]);
  });

  it.each([
    ['host=host2', ['web-2']],
    ['node=host1', ['db.1', 'web-1']],
    [`uuid=@web-1`, ['web-1']],
    ['description=^web-1', []],
    ['locked_by=owner', []],
    ['root_device_name=vda', ['db.1', 'web-1', 'web-2']],
    ['kernel_id=x', []],
    ['ramdisk_id=x', []],
    ['launch_index=0', ['db.1', 'web-1', 'web-2']],
    ['launch_index=[', []],
    ['auto_disk_config=MANUAL', ['db.1', 'web-1', 'web-2']],
    ['access_ip_v4=1', []],
    ['access_ip_v6=1', []],
    ['reservation_id=^r-', ['db.1', 'web-1', 'web-2']],
    ['display_name=web-2', ['web-2']],
    ['image_ref=x', []],
    ['project_id=p2', ['db.1', 'web-1', 'web-2']],
    ['all_tenants=1&project_id=p2', ['bobs']],
    ['all_tenants=&tenant_id=p2', ['bobs']],
    ['all_tenants=True', ['bobs', 'db.1', 'web-1', 'web-2']],
    ['deleted=true', ['lost']],
    ['deleted=garbage', ['db.1', 'web-1', 'web-2']],
    ['status=deleted', ['lost']],
    ['changes-since=2025-01-01T00:00:00Z&deleted=false', ['db.1', 'web-1', 'web-2']],
  ])('%s finds %j for administrators', async (query, found) => {
    const response = await list('admin:p1', '2.100', query.replace('@web-1', serverIds['web-1'].id));
    expect(response.status).toBe(200);
    expect(names(response)).toEqual(found);
  });

  it.each([
    'host=nothing',
    'node=nothing',
    'uuid=nothing',
    'deleted=true',
    'kernel_id=nothing',
    'description=nothing',
    'display_name=nothing',
    'image_ref=nothing',
    'project_id=p2',
    'tenant_id=p2',
    'metadata=x',
    'block_device_mapping=x',
    '_hidden=x',
    'soft_deleted=true',
  ])('%s is ignored for members', async (query) => {
    for (const version of ['2.1', '2.100']) expect(names(await list('ada:p1', version, query))).toHaveLength(3);
  });

  it.each([
    'block_device_mapping',
    'services',
    'metadata',
    'system_metadata',
    'info_cache',
    'security_groups',
    'pci_devices',
    '_any',
  ])('%s is rejected for administrators at every version', async (name) => {
    for (const version of ['2.1', '2.100']) expect((await list('admin:p1', version, `${name}=1`)).status).toBe(400);
  });

  it.each([
    ['limit=-1'],
    ['limit=many'],
    ['name='],
    ['name=['],
    ['name=(?=look)'],
    ['name=(a{1000}){1000}'],
    ['ip=('],
    ['status=nonsense'],
    ['changes-since=yesterday'],
    ['changes-since=2026-01-02T00:00:00Z&changes-before=2026-01-01T00:00:00Z'],
    ['locked=maybe'],
    ['all_tenants=maybe'],
    ['sort_key=nonsense'],
    ['sort_key=vcpus'],
    ['sort_key=created_at&sort_dir=up'],
    ['sort_key=created_at&sort_dir=asc&sort_dir=desc'],
    ['marker=nonsense'],
    ['marker=%00'],
    ['tags='],
    ['unknown=1'],
  ])('%s returns 400 with a message', async (query) => {
    const response = await list('ada:p1', '2.100', query);
    expect(response.status).toBe(400);
    expect(response.body.badRequest.message).toMatch(/\w/);
  });

  it('ignores unknown parameters until 2.74 and rejects them since 2.75', async () => {
    expect((await list('ada:p1', '2.74', 'unknown=1')).status).toBe(200);
    expect((await list('ada:p1', '2.75', 'unknown=1')).status).toBe(400);
  });

  it('finds nothing for an unknown status until 2.37, and rejects it since 2.38', async () => {
    expect((await list('ada:p1', '2.37', 'status=nonsense')).body).toEqual({ servers: [] });
    expect((await list('ada:p1', '2.38', 'status=nonsense')).status).toBe(400);
  });

  it('restricts lists of all projects, lists of deleted servers and sorting by host to administrators', async () => {
    expect((await list('ada:p1', '2.1', 'all_tenants=1')).status).toBe(403);
    expect((await api.as('ada:p1').get('/servers?all_tenants=1')).status).toBe(403);
    expect((await list('ada:p1', '2.1', 'status=deleted')).status).toBe(403);
    for (const key of ['host', 'node']) {
      expect((await list('ada:p1', '2.1', `sort_key=${key}`)).status).toBe(403);
      expect((await list('admin:p1', '2.1', `sort_key=${key}`)).status).toBe(200);
    }
  });

  it('finds servers that changed since or before a time, including deleted ones', async () => {
    expect(names(await list('ada:p1', '2.1', 'changes-since=2025-01-01T00:00:00'))).toEqual([
      'db.1',
      'lost',
      'web-1',
      'web-2',
    ]);
    expect(names(await list('ada:p1', '2.1', 'changes-since=2027-01-01T00:00:00Z'))).toEqual([]);
    const updated = serverIds['web-1'].updated;
    expect(names(await list('ada:p1', '2.66', `changes-before=${updated}`))).toEqual(['web-1']);
    expect(names(await list('ada:p1', '2.65', 'changes-before=2020-01-01T00:00:00Z'))).toHaveLength(3);
  });

  it('never shows members of one project the servers of another', async () => {
    for (const query of [
      'project_id=p1',
      'all_tenants=0',
      `uuid=${serverIds['web-1'].id}`,
      'changes-since=2020-01-01',
    ]) {
      expect(names(await list('bob:p2', '2.100', query))).toEqual(['bobs']);
    }
    expect((await list('bob:p2', '2.100', `marker=${serverIds['web-1'].id}`)).status).toBe(400);
  });
});

describe('soft-deleted servers', () => {
  it('are omitted unless an administrator requests them', async () => {
    const api = await apiUnderTest({ engine: { settings: { reclaimSeconds: 3600 } } });
    const ada = api.as('ada:p1');
    const admin = api.as('admin:p1');
    const removed = await ada.boot({ name: 'gone' });
    await ada.delete(`/servers/${removed.id}`);
    await api.idle();
    expect(names(await ada.get('/servers?name=gone'))).toEqual([]);
    expect(names(await admin.get('/servers?name=gone'))).toEqual([]);
    expect(names(await admin.get('/servers?name=gone&soft_deleted=true'))).toEqual(['gone']);
    expect(names(await admin.get('/servers?name=gone&deleted=true'))).toEqual(['gone']);
    expect(names(await ada.get('/servers?changes-since=2020-01-01T00:00:00Z'))).toEqual(['gone']);
    await api.close();
  });
});

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJOzKhBOh+NuV09X3C1Ms+L3ZHPmV5pA3Ce5q4n8L1ZQ ada@example';
