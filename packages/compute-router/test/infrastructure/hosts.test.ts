import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('hosts, until 2.42', () => {
  let api: Api;
  beforeEach(async () => {
    api = await apiUnderTest();
  });
  afterEach(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const admin = (version = '2.42') => api.as('admin:p1', version);
  const forceDown = (host: string) =>
    admin().put('/os-services/force-down', { host, binary: 'nova-compute', forced_down: true });

  it('are listed with their enabled services and zones', async () => {
    const host1 = { host_name: 'host1', service: 'compute', zone: 'nova' };
    expect((await admin('2.1').get('/os-hosts')).body.hosts).toEqual([
      { host_name: 'controller', service: 'scheduler', zone: 'internal' },
      { host_name: 'controller', service: 'conductor', zone: 'internal' },
      host1,
      { host_name: 'host2', service: 'compute', zone: 'nova' },
    ]);
    await admin().put('/os-services/disable', { host: 'host2', binary: 'nova-compute' });
    expect((await admin().get('/os-hosts?zone=nova&colour=red')).body.hosts).toEqual([host1]);
    expect((await admin().get('/os-hosts?zone=nowhere')).body.hosts).toEqual([]);
  });

  it('show their capacity, their usage, and the usage by project', async () => {
    const server = await admin('2.37').boot();
    const host = server['OS-EXT-SRV-ATTR:host'];
    await api.as('bob:p2').boot({ name: 'elsewhere' });
    const { status, body } = await admin().get(`/os-hosts/${host}`);
    expect(status).toBe(200);
    const shares = Object.fromEntries(body.host.map(({ resource }: any) => [resource.project, resource]));
    const tiny = { host, cpu: 1, memory_mb: 512, disk_gb: 1 };
    expect(shares['(total)']).toEqual({ host, project: '(total)', cpu: 64, memory_mb: 262144, disk_gb: 4096 });
    expect(shares['(used_now)']).toEqual({ ...tiny, project: '(used_now)' });
    expect(shares['(used_max)']).toEqual({ ...tiny, project: '(used_max)' });
    expect(shares.p1).toEqual({ ...tiny, project: 'p1' });
    expect(body.host.slice(0, 3).map(({ resource }: any) => resource.project)).toEqual([
      '(total)',
      '(used_now)',
      '(used_max)',
    ]);
    expect((await admin().get('/os-hosts/nowhere')).status).toBe(404);
    expect((await admin().get('/os-hosts/controller')).status).toBe(404);
  });

  it.each<[Record<string, string>, Record<string, string>]>([
    [{ status: 'Disable' }, { status: 'disabled' }],
    [{ status: 'ENABLE' }, { status: 'enabled' }],
    [{ maintenance_mode: 'enable' }, { maintenance_mode: 'on_maintenance' }],
    [{ maintenance_mode: 'disable' }, { maintenance_mode: 'off_maintenance' }],
    [
      { status: 'enable', maintenance_mode: 'disable' },
      { status: 'enabled', maintenance_mode: 'off_maintenance' },
    ],
  ])('accept %j', async (body, shown) => {
    const response = await admin().put('/os-hosts/host1', body);
    expect([response.status, response.body]).toEqual([200, { host: 'host1', ...shown }]);
  });

  it('that are disabled get no servers', async () => {
    await admin().put('/os-hosts/host1', { status: 'disable' });
    expect((await admin('2.37').boot())['OS-EXT-SRV-ATTR:host']).toBe('host2');
  });

  it.each<[unknown]>([[{}], [{ status: 'eNaBlE' }], [{ status: true }], [{ colour: 'red' }], [[]], ['x']])(
    'reject %j',
    async (body) => {
      expect((await admin().put('/os-hosts/host1', body)).status).toBe(400);
    },
  );

  it.each(['reboot', 'shutdown', 'startup'])('accept the power action %s', async (action) => {
    const result = await admin().get(`/os-hosts/host1/${action}`);
    expect([result.status, result.body]).toEqual([200, { host: 'host1', power_action: action }]);
    expect((await admin().get(`/os-hosts/nowhere/${action}`)).status).toBe(404);
    await forceDown('host1');
    expect((await admin().get(`/os-hosts/host1/${action}`)).status).toBe(400);
  });

  it('that are down cannot be changed, and unknown ones return 404', async () => {
    await forceDown('host1');
    for (const body of [{ status: 'enable' }, { maintenance_mode: 'enable' }]) {
      expect((await admin().put('/os-hosts/host1', body)).status).toBe(400);
      expect((await admin().put('/os-hosts/nowhere', body)).status).toBe(404);
    }
  });

  it('do not exist since 2.43', async () => {
    expect((await admin('2.43').get('/os-hosts')).status).toBe(404);
    expect((await admin('2.43').get('/os-hosts/host1')).status).toBe(404);
    expect((await admin('2.43').put('/os-hosts/host1', { status: 'disable' })).status).toBe(404);
    for (const action of ['reboot', 'shutdown', 'startup'])
      expect((await admin('2.43').get(`/os-hosts/host1/${action}`)).status).toBe(404);
  });

  it('are denied to members, who change nothing', async () => {
    const ada = api.as('ada:p1', '2.42');
    for (const path of ['', '/host1', '/host1/reboot', '/host1/shutdown', '/host1/startup', '/nowhere'])
      expect((await ada.get(`/os-hosts${path}`)).status).toBe(403);
    expect((await ada.put('/os-hosts/host1', { status: 'disable' })).status).toBe(403);
    expect((await admin().get('/os-services?host=host1')).body.services[0].status).toBe('enabled');
  });
});

describe('hosts of a driver without power control', () => {
  it('return 501', async () => {
    const without = { hostPower: undefined, hostMaintenance: undefined };
    const driver = (clock: any) => Object.assign(new SimulatedDriver({ clock }), without) as any;
    const api = await apiUnderTest({ engine: { driver } });
    try {
      const admin = api.as('admin:p1');
      for (const action of ['reboot', 'shutdown', 'startup'])
        expect((await admin.get(`/os-hosts/host1/${action}`)).body.notImplemented.code).toBe(501);
      expect((await admin.put('/os-hosts/host1', { maintenance_mode: 'enable' })).status).toBe(501);
    } finally {
      await api.close();
    }
  });
});
