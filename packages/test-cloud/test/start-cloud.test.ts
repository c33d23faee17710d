import { describe, expect, it } from 'vitest';
import { startCloud } from '../src/index.js';
import { clientOf, cloudUnderTest, serverBody } from './clouds.js';

describe('startCloud', () => {
  it('can be stopped more than once', async () => {
    const cloud = await cloudUnderTest();
    await Promise.all([cloud.stop(), cloud.stop()]);
    await cloud.stop();
    await expect(fetch(cloud.url)).rejects.toThrow('fetch failed');
  });

  it('returns tokens that expire in the year 9999, which clients can parse', async () => {
    const cloud = await cloudUnderTest();
    await cloud.clock.advance('3650d');
    const token = cloud.token();
    const headers = { 'X-Auth-Token': token, 'X-Subject-Token': token };
    const response = await fetch(`${cloud.authUrl}/auth/tokens`, { headers });
    expect(((await response.json()) as any).token.expires_at).toMatch(/^9999-/);
  });

  it('serves every service of its catalog', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { body } = await request('GET', '/identity/v3/auth/catalog');
    expect(body.catalog.map(({ type }: { type: string }) => type)).toEqual([
      'identity',
      'compute',
      'image',
      'network',
      'volumev3',
      'block-storage',
      'placement',
    ]);
    for (const { endpoints } of body.catalog) {
      const address = endpoints[0].url.replace(/\/v3\/[0-9a-f]{32}$/, '/v3');
      expect(address.startsWith(`${cloud.url}/`)).toBe(true);
      // As in Cinder, the root of the volume API requires a token.
      const { status } = await fetch(address, { redirect: 'manual', headers: { 'X-Auth-Token': cloud.token() } });
      expect([200, 300]).toContain(status);
    }
  });

  it('returns tokens for any user without a login', async () => {
    const cloud = await cloudUnderTest();
    const member = clientOf(cloud, cloud.token('ada', 'lab'));
    const admin = clientOf(cloud, cloud.token('root', 'lab', ['admin']));
    expect((await member('GET', '/compute/v2.1/servers')).status).toBe(200);
    expect((await member('GET', '/compute/v2.1/os-hypervisors')).status).toBe(403);
    expect((await admin('GET', '/compute/v2.1/os-hypervisors')).status).toBe(200);
  });

  it('runs concurrently with other clouds, each with its own resources', async () => {
    const [one, other] = await Promise.all([cloudUnderTest(), cloudUnderTest()]);
    await clientOf(one!)('POST', '/compute/v2.1/servers', serverBody());
    expect((await clientOf(one!)('GET', '/compute/v2.1/servers')).body.servers).toHaveLength(1);
    expect((await clientOf(other!)('GET', '/compute/v2.1/servers')).body.servers).toEqual([]);
  });

  it('no longer uses its port after it has stopped', async () => {
    const first = await startCloud();
    const port = Number(new URL(first.url).port);
    await fetch(first.url);
    await first.stop();
    const second = await startCloud({ port });
    expect(new URL(second.url).port).toBe(String(port));
    await second.stop();
  });

  it('has one host and one flavor with the minimal preset', async () => {
    const cloud = await cloudUnderTest({ preset: 'minimal' });
    const request = clientOf(cloud);
    expect((await request('GET', '/compute/v2.1/flavors')).body.flavors).toHaveLength(1);
    expect((await request('GET', '/compute/v2.1/os-hypervisors')).body.hypervisors).toHaveLength(1);
  });

  it('has 100,000 running servers on 500 hosts with the large preset, and capacity for more', async () => {
    const cloud = await cloudUnderTest({ preset: 'large' });
    const request = clientOf(cloud);
    const all = await request('GET', '/compute/v2.1/servers/detail?all_tenants=1&limit=1000&status=ACTIVE');
    expect(all.body.servers).toHaveLength(1000);
    expect(all.body.servers_links).toHaveLength(1);
    const ids = new Set(all.body.servers.map(({ id }: { id: string }) => id));
    expect(ids.size).toBe(1000);
    const hypervisors = await request('GET', '/compute/v2.1/os-hypervisors/detail', undefined, {
      'OpenStack-API-Version': 'compute 2.87',
    });
    const running = hypervisors.body.hypervisors.map((h: { running_vms: number }) => h.running_vms);
    expect(running).toHaveLength(500);
    expect(new Set(running)).toEqual(new Set([200]));
    const created = await request('POST', '/compute/v2.1/servers', serverBody());
    await cloud.idle();
    const shown = await request('GET', `/compute/v2.1/servers/${created.body.server.id}`);
    expect(shown.body.server.status).toBe('ACTIVE');
  });

  it.each([
    [{ prest: 'small' }, 'unknown option "prest"'],
    [{ preset: 'huge' }, 'unknown preset "huge"'],
    [{ clock: 'fast' }, 'clock must be "running" or "frozen"'],
  ])('rejects %j with the fix', async (options, text) => {
    await expect(startCloud(options as object)).rejects.toThrow(text);
  });

  it('lists unhandled requests, each kind once', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const read = await request('GET', '/network/v2.0/vpn/vpnservices?name=x');
    expect(read.status).toBe(404);
    expect(read.body.NeutronError).toMatchObject({ type: 'HTTPNotFound' });
    expect((await request('POST', '/network/v2.0/vpn/vpnservices', {})).status).toBe(404);
    await request('GET', '/network/v2.0/vpn/vpnservices');
    await request('GET', '/object-store/v1');
    expect(cloud.unhandled()).toEqual([
      { service: 'network', method: 'GET', url: '/network/v2.0/vpn/vpnservices?name=x', count: 2 },
      { service: 'network', method: 'POST', url: '/network/v2.0/vpn/vpnservices', count: 1 },
      { service: '', method: 'GET', url: '/object-store/v1', count: 1 },
    ]);
  });
});
