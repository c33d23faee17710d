import { ManualClock } from '@apistrata/compute-engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

const anonymous = '7d3c1b52-0c8e-4b8e-8f7a-6f0f6b7f3d21';
const brief = ['hypervisor_hostname', 'id', 'state', 'status'];
const detail = [...brief, 'host_ip', 'hypervisor_type', 'hypervisor_version', 'service'];
const capacity = [
  'cpu_info',
  'current_workload',
  'disk_available_least',
  'free_disk_gb',
  'free_ram_mb',
  'local_gb',
  'local_gb_used',
  'memory_mb',
  'memory_mb_used',
  'running_vms',
  'vcpus',
  'vcpus_used',
];

/** The CPU description of one host. The other hosts have the example description. */
const cpuInfo = {
  arch: 'x86_64',
  model: 'EPYC-Rome',
  vendor: 'AMD',
  features: ['avx2', 'sse4.1'],
  topology: { cells: 2, sockets: 1, cores: 8, threads: 2 },
};

describe('hypervisors', () => {
  let api: Api;
  let clock: ManualClock;
  let server: any;
  /** The node that runs the only server (`busy`), and a node without servers (`free`). */
  let busy: string;
  let free: string;
  beforeAll(async () => {
    clock = new ManualClock();
    const host = { vcpus: 8, memoryMb: 4096, diskGb: 100 };
    api = await apiUnderTest({
      engine: { clock },
      router: { maxVersion: '2.104' },
      preset: {
        flavors: [{ id: '1', name: 'small', vcpus: 2, memoryMb: 512, diskGb: 10 }],
        images: [{ id: '70a599e0-31e7-49b7-b260-868f441e862b', name: 'cirros', visibility: 'public' }],
        hosts: ['east1', 'east2', 'west1'].map((name) => ({
          name,
          hypervisorHostname: `node-${name}`,
          ...host,
          ...(name === 'west1' && { cpuInfo, address: '198.51.100.7', hypervisorType: 'KVM' }),
        })),
      },
    });
    server = await admin('2.37').boot();
    busy = server['OS-EXT-SRV-ATTR:hypervisor_hostname'];
    free = ['node-east1', 'node-east2', 'node-west1'].find((name) => name !== busy)!;
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const admin = (version = '2.1') => api.as('admin:p1', version);
  const list = async (path: string, version?: string) =>
    (await admin(version).get(`/os-hypervisors${path}`)).body.hypervisors as any[];
  const idOf = async (name: string, version?: string) =>
    (await list('', version)).find((h) => h.hypervisor_hostname === name).id;
  const hostOf = (name: string) => name.replace('node-', '');

  it.each([
    ['2.1', [...detail, ...capacity]],
    ['2.27', [...detail, ...capacity]],
    ['2.28', [...detail, ...capacity]],
    ['2.53', [...detail, ...capacity]],
    ['2.87', [...detail, ...capacity]],
    ['2.88', [...detail, 'uptime']],
    ['2.104', [...detail, 'uptime']],
  ])('show at %s the fields of that version, in lists and individually', async (version, fields) => {
    const [one, , west] = await list('/detail', version);
    expect(Object.keys(one).sort()).toEqual([...fields].sort());
    expect((await admin(version).get(`/os-hypervisors/${one.id}`)).body.hypervisor).toEqual(one);
    expect([one.host_ip, west.host_ip, west.hypervisor_type]).toEqual(['192.0.2.1', '198.51.100.7', 'KVM']);
    expect(Object.keys(one.service).sort()).toEqual(['disabled_reason', 'host', 'id']);
    const summary = await list('', version);
    expect(summary.map((h) => h.hypervisor_hostname)).toEqual(['node-east1', 'node-east2', 'node-west1']);
    for (const h of summary) expect(Object.keys(h).sort()).toEqual(brief);
  });

  it.each([
    ['2.52', 'number'],
    ['2.53', 'string'],
  ])('have at %s ids of type %s, like their services', async (version, type) => {
    const [one] = await list('/detail', version);
    expect([typeof one.id, typeof one.service.id]).toEqual([type, type]);
    const [service] = (await admin(version).get('/os-services?binary=nova-compute')).body.services;
    expect(one.service).toEqual({ id: service.id, host: 'east1', disabled_reason: null });
  });

  it('show their processors as a string until 2.27, and as an object since 2.28', async () => {
    const processors = async (version: string) =>
      Object.fromEntries((await list('/detail', version)).map((h) => [hostOf(h.hypervisor_hostname), h.cpu_info]));
    const objects = await processors('2.28');
    expect(objects.west1).toEqual(cpuInfo);
    expect(objects.east1).toMatchObject({ arch: 'x86_64', vendor: 'Intel', topology: { cores: 8 } });
    const texts = await processors('2.27');
    for (const [name, text] of Object.entries(texts)) expect(JSON.parse(text)).toEqual(objects[name]);
  });

  it('count the resources of their servers', async () => {
    const all = await list('/detail');
    expect(all.find((h) => h.hypervisor_hostname === busy)).toMatchObject({
      vcpus: 8,
      vcpus_used: 2,
      memory_mb: 4096,
      memory_mb_used: 512,
      free_ram_mb: 3584,
      local_gb: 100,
      local_gb_used: 10,
      free_disk_gb: 90,
      disk_available_least: 90,
      running_vms: 1,
      current_workload: 0,
    });
    expect(all.find((h) => h.hypervisor_hostname === free)).toMatchObject({ vcpus_used: 0, running_vms: 0 });
  });

  it('have summary statistics until 2.87', async () => {
    const { status, body } = await admin('2.87').get('/os-hypervisors/statistics?x=1');
    expect(status).toBe(200);
    expect(body.hypervisor_statistics).toEqual({
      count: 3,
      vcpus: 24,
      vcpus_used: 2,
      memory_mb: 12288,
      memory_mb_used: 512,
      free_ram_mb: 11776,
      local_gb: 300,
      local_gb_used: 10,
      free_disk_gb: 290,
      disk_available_least: 290,
      running_vms: 1,
      current_workload: 0,
    });
    expect((await admin('2.88').get('/os-hypervisors/statistics')).status).toBe(404);
  });

  it.each([
    ['2.1', 'x', 404],
    ['2.52', anonymous, 404],
    ['2.52', '99', 404],
    ['2.53', '1', 400],
    ['2.53', 'x', 400],
    ['2.53', anonymous, 404],
    ['2.87', anonymous, 404],
  ])('identified at %s by %s return %i, and so does their uptime', async (version, id, status) => {
    expect((await admin(version).get(`/os-hypervisors/${id}`)).status).toBe(status);
    expect((await admin(version).get(`/os-hypervisors/${id}/uptime`)).status).toBe(status);
  });

  it.each([
    ['2.32', '?limit=1', 3],
    ['2.32', '?limit=x', 3],
    ['2.33', '?limit=1', 1],
    ['2.33', '?limit=0', 0],
    ['2.33', '?limit=x', 400],
    ['2.33', '?marker=99', 400],
    ['2.33', '?marker=x', 400],
    ['2.52', '?limit=1&limit=2', 2],
    ['2.53', '?limit=1&limit=2', 400],
    ['2.53', '?marker=1', 400],
    ['2.53', `?marker=${anonymous}`, 400],
    ['2.52', '?colour=red', 3],
    ['2.53', '?colour=red', 400],
    ['2.52', '?hypervisor_hostname_pattern=east', 3],
    ['2.53', '?hypervisor_hostname_pattern=east', 2],
    ['2.53', '?hypervisor_hostname_pattern=1', 2],
    ['2.53', '?hypervisor_hostname_pattern=north', 404],
    ['2.53', '?hypervisor_hostname_pattern=e%25t', 400],
    ['2.53', '?hypervisor_hostname_pattern=', 400],
    ['2.53', '?hypervisor_hostname_pattern=east&limit=1', 400],
    ['2.53', `?hypervisor_hostname_pattern=east&marker=${anonymous}`, 400],
    ['2.53', '?with_servers=perhaps', 400],
    ['2.53', '?with_servers=1&with_servers=1', 400],
  ])('at %s with "%s" return %i', async (version, query, expected) => {
    for (const path of ['', '/detail']) {
      const { status, body } = await admin(version).get(`/os-hypervisors${path}${query}`);
      expect(status === 200 ? body.hypervisors.length : status).toBe(expected);
    }
  });

  it.each(['2.33', '2.53'])('are paged at %s', async (version) => {
    const [first, second] = await list('', version);
    const page = (await admin(version).get('/os-hypervisors?limit=2')).body;
    expect(page.hypervisors_links).toEqual([
      { rel: 'next', href: `${api.url}/v2.1/os-hypervisors?limit=2&marker=${second.id}` },
    ]);
    const rest = (await admin(version).get(`/os-hypervisors?limit=2&marker=${second.id}`)).body;
    expect(rest.hypervisors.map((h: any) => h.hypervisor_hostname)).toEqual(['node-west1']);
    expect(rest).not.toHaveProperty('hypervisors_links');
    expect((await list(`?marker=${first.id}&limit=1`, version))[0].id).toBe(second.id);
  });

  it('list their servers by name and UUID on request since 2.53; empty lists only since 2.75', async () => {
    const entry = { uuid: server.id, name: server['OS-EXT-SRV-ATTR:instance_name'] };
    for (const [version, none] of [
      ['2.53', undefined],
      ['2.74', undefined],
      ['2.75', []],
      ['2.104', []],
    ] as const) {
      for (const path of ['', '/detail']) {
        const all = await list(`${path}?with_servers=true`, version);
        expect(all.find((h) => h.hypervisor_hostname === busy).servers).toEqual([entry]);
        expect(all.find((h) => h.hypervisor_hostname === free).servers).toEqual(none);
        for (const h of await list(`${path}?with_servers=false`, version)) expect(h).not.toHaveProperty('servers');
      }
      const busyId = await idOf(busy, version);
      const { hypervisor } = (await admin(version).get(`/os-hypervisors/${busyId}?with_servers=yes`)).body;
      expect(hypervisor.servers).toEqual([entry]);
    }
    const id = await idOf(busy, '2.53');
    expect((await admin('2.53').get(`/os-hypervisors/${id}?colour=red`)).status).toBe(400);
    expect((await admin('2.52').get(`/os-hypervisors/${await idOf(busy)}?colour=red`)).status).toBe(200);
  });

  it('can be searched by a part of their name until 2.52', async () => {
    const found = await list('/east/search', '2.52');
    expect(found.map((h) => h.hypervisor_hostname)).toEqual(['node-east1', 'node-east2']);
    expect(Object.keys(found[0]).sort()).toEqual(brief);
    expect((await admin().get('/os-hypervisors/north/search')).status).toBe(404);
    expect((await admin('2.53').get('/os-hypervisors/east/search')).status).toBe(404);
  });

  it('list their servers by a part of their name until 2.52', async () => {
    const [all] = [await list('/node/servers', '2.52')];
    expect(all).toHaveLength(3);
    for (const h of all) {
      if (h.hypervisor_hostname === busy) expect(h.servers).toMatchObject([{ uuid: server.id }]);
      else expect(h).not.toHaveProperty('servers');
    }
    expect((await admin().get('/os-hypervisors/north/servers')).status).toBe(404);
    expect((await admin('2.53').get('/os-hypervisors/node/servers')).status).toBe(404);
  });

  it('show their uptime: separately until 2.87, with all other fields since 2.88', async () => {
    await clock.advance(2 * 86_400_000 + 3_720_000);
    const text = ' 01:02:00 up 2 days,  1:02,  0 users,  load average: 0.00, 0.00, 0.00';
    for (const version of ['2.1', '2.53', '2.87']) {
      const { status, body } = await admin(version).get(`/os-hypervisors/${await idOf(busy, version)}/uptime`);
      expect(status).toBe(200);
      expect(body.hypervisor).toEqual({
        id: await idOf(busy, version),
        hypervisor_hostname: busy,
        state: 'up',
        status: 'enabled',
        uptime: text,
      });
    }
    const id = await idOf(busy, '2.88');
    expect((await admin('2.88').get(`/os-hypervisors/${id}/uptime`)).status).toBe(404);
    expect((await admin('2.88').get(`/os-hypervisors/${id}`)).body.hypervisor.uptime).toBe(text);
    expect((await list('/detail', '2.88')).map(({ uptime }) => uptime)).toEqual([text, text, text]);
  });

  it('show the status of their service, have no uptime while it is down, and no statistics while it is disabled', async () => {
    const id = await idOf(free, '2.88');
    const [{ id: service }] = (await admin('2.53').get(`/os-services?host=${hostOf(free)}`)).body.services;
    const put = (body: unknown) => admin('2.53').put(`/os-services/${service}`, body);
    await put({ status: 'disabled', disabled_reason: 'rest', forced_down: true });
    const { hypervisor } = (await admin('2.88').get(`/os-hypervisors/${id}`)).body;
    expect(hypervisor).toMatchObject({ state: 'down', status: 'disabled', uptime: null });
    expect(hypervisor.service.disabled_reason).toBe('rest');
    expect((await admin().get(`/os-hypervisors/${await idOf(free)}/uptime`)).status).toBe(400);
    const statistics = async () => (await admin().get('/os-hypervisors/statistics')).body.hypervisor_statistics;
    expect(await statistics()).toMatchObject({ count: 2, vcpus: 16, memory_mb: 8192, running_vms: 1 });
    await put({ status: 'enabled' });
    expect(await statistics()).toMatchObject({ count: 3, vcpus: 24, memory_mb: 12288, running_vms: 1 });
    await put({ forced_down: false });
    expect((await admin('2.88').get(`/os-hypervisors/${id}`)).body.hypervisor).toMatchObject({ state: 'up' });
  });

  it('are denied to members', async () => {
    const [one] = await list('');
    const paths = [
      '',
      '/detail',
      '/statistics',
      `/${one.id}`,
      `/${one.id}/uptime`,
      '/east/search',
      '/east/servers',
      '/x',
    ];
    for (const path of paths) expect((await api.as('ada:p1').get(`/os-hypervisors${path}`)).status).toBe(403);
    for (const path of ['', '/detail', `/${await idOf(busy, '2.53')}`, '/x'])
      expect((await api.as('ada:p1', '2.53').get(`/os-hypervisors${path}`)).status).toBe(403);
  });
});
