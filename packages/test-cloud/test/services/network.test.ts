import { describe, expect, it } from 'vitest';
import type { TestCloud } from '../../src/index.js';
import { clientOf, cloudUnderTest, NETWORK, serverBody } from '../clouds.js';

const PUBLIC = '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31';

async function office(cloud: TestCloud) {
  const request = clientOf(cloud, cloud.token('demo', 'demo'));
  const make = async (path: string, one: string, fields: object) => {
    const { status, body } = await request('POST', `/network/v2.0/${path}`, { [one]: fields });
    expect(status, JSON.stringify(body)).toBe(201);
    return body[one];
  };
  const network = await make('networks', 'network', { name: 'office', mtu: 1400 });
  const subnet = await make('subnets', 'subnet', { network_id: network.id, ip_version: 4, cidr: '192.168.5.0/24' });
  return { request, make, network, subnet };
}

describe('networks', () => {
  it('are created with the given settings and derived defaults', async () => {
    const { request, network, subnet } = await office(await cloudUnderTest());
    expect(network).toMatchObject({
      name: 'office',
      mtu: 1400,
      shared: false,
      status: 'ACTIVE',
      'router:external': false,
    });
    expect(network).not.toHaveProperty('provider:network_type');
    expect(subnet).toMatchObject({
      gateway_ip: '192.168.5.1',
      allocation_pools: [{ start: '192.168.5.2', end: '192.168.5.254' }],
      enable_dhcp: true,
    });
    const listed = await request('GET', '/network/v2.0/networks?name=office&fields=id&fields=subnets');
    expect(listed.body.networks).toEqual([{ id: network.id, subnets: [subnet.id] }]);
    const paged = await request('GET', '/network/v2.0/networks?limit=1&sort_key=name&sort_dir=asc');
    expect(paged.body.networks[0].name).toBe('office');
    expect(paged.body.networks_links.map(({ rel }: { rel: string }) => rel)).toEqual(['next', 'previous']);
  });

  it('consist of one or several segments', async () => {
    const cloud = await cloudUnderTest();
    const asAdmin = clientOf(cloud, cloud.token('admin', 'demo'));
    const vlan = (id: number) => ({
      'provider:network_type': 'vlan',
      'provider:physical_network': 'home',
      'provider:segmentation_id': id,
    });
    const create = (fields: object) => asAdmin('POST', '/network/v2.0/networks', { network: fields });
    const single = await create({ segments: [vlan(7)] });
    expect(single).toMatchObject({ status: 201, body: { network: vlan(7) } });
    expect(single.body.network).not.toHaveProperty('segments');

    const several = [vlan(9), { 'provider:network_type': 'local' }];
    const unset = { 'provider:physical_network': null, 'provider:segmentation_id': null };
    const empty = { 'provider:physical_network': '', 'provider:segmentation_id': 0 };
    const { status, body } = await create({ shared: true, segments: [several[0], { ...several[1], ...empty }] });
    expect(status).toBe(201);
    const path = `/network/v2.0/networks/${body.network.id}`;
    const { network } = (await asAdmin('GET', path)).body;
    expect(network.segments).toEqual([several[0], { ...several[1], ...unset }]);
    expect(network).not.toHaveProperty('provider:network_type');
    expect((await clientOf(cloud, cloud.token('demo', 'demo'))('GET', path)).body.network).not.toHaveProperty(
      'segments',
    );
    expect((await asAdmin('PUT', path, { network: { name: 'renamed' } })).body.network.segments).toHaveLength(2);
    expect((await asAdmin('PUT', path, { network: { 'provider:segmentation_id': 8 } })).status).toBe(400);

    for (const [wrong, message] of [
      [{ ...vlan(7), segments: [vlan(7)] }, 'Segments and provider values cannot both be set'],
      [{ segments: [vlan(7), vlan(7)] }, 'Duplicate segment entry in request'],
      [{ segments: [{ 'provider:network_type': 'flat' }] }, 'physical_network required for flat provider network'],
    ] as const)
      expect(await create(wrong)).toMatchObject({
        status: 400,
        body: { NeutronError: { type: 'InvalidInput', message: expect.stringContaining(message) } },
      });
    expect((await create({ segments: [] })).status).toBe(400);
    expect((await asAdmin('GET', '/network/v2.0/extensions/multi-provider')).status).toBe(200);
  });

  it('show segments of physical networks to administrators, and reject impossible ones', async () => {
    const cloud = await cloudUnderTest();
    const asAdmin = clientOf(cloud, cloud.token('admin', 'demo'));
    const create = (provider: Record<string, unknown>) =>
      asAdmin('POST', '/network/v2.0/networks', {
        network: Object.fromEntries([
          ['name', 'lan'],
          ['shared', true],
          ...Object.entries(provider).map(([name, value]) => [`provider:${name}`, value]),
        ]),
      });
    const segment = { network_type: 'vlan', physical_network: 'home', segmentation_id: 7 };
    const { status, body } = await create(segment);
    expect(status).toBe(201);
    const path = `/network/v2.0/networks/${body.network.id}`;
    const shown = {
      'provider:network_type': 'vlan',
      'provider:physical_network': 'home',
      'provider:segmentation_id': 7,
    };
    expect((await asAdmin('GET', path)).body.network).toMatchObject({ ...shown, mtu: 1500 });
    expect((await clientOf(cloud, cloud.token('demo', 'demo'))('GET', path)).body.network).not.toHaveProperty(
      'provider:network_type',
    );
    const changed = await asAdmin('PUT', path, { network: { 'provider:segmentation_id': 8 } });
    expect(changed.body.network).toMatchObject({ ...shown, 'provider:segmentation_id': 8 });
    for (const [wrong, message] of [
      [{ network_type: 'flat' }, 'physical_network required for flat provider network'],
      [{ ...segment, network_type: 'flat' }, 'segmentation_id prohibited for flat provider network'],
      [{ network_type: 'vlan' }, 'physical_network required for VLAN provider network'],
      [{ ...segment, segmentation_id: 4095 }, 'segmentation_id out of range (1 through 4094)'],
    ] as const)
      expect(await create(wrong)).toMatchObject({
        status: 400,
        body: { NeutronError: { type: 'InvalidInput', message: `Invalid input for operation: ${message}.` } },
      });
  });

  it('accept tags, one by one and all at once', async () => {
    const { request, network } = await office(await cloudUnderTest());
    const path = `/network/v2.0/networks/${network.id}/tags`;
    expect((await request('PUT', path, { tags: ['a', 'b'] })).body).toEqual({ tags: ['a', 'b'] });
    expect((await request('PUT', `${path}/c`)).status).toBe(201);
    expect((await request('DELETE', `${path}/a`)).status).toBe(204);
    expect((await request('GET', path)).body.tags).toEqual(['b', 'c']);
    expect((await request('GET', `${path}/a`)).status).toBe(404);
  });

  it('are not deleted while they are in use', async () => {
    const { request, make, network } = await office(await cloudUnderTest());
    const port = await make('ports', 'port', { network_id: network.id });
    const path = `/network/v2.0/networks/${network.id}`;
    const rejected = await request('DELETE', path);
    expect(rejected).toMatchObject({ status: 409, body: { NeutronError: { type: 'NetworkInUse' } } });
    await request('DELETE', `/network/v2.0/ports/${port.id}`);
    expect((await request('DELETE', path)).status).toBe(204);
  });
});

describe('ports', () => {
  it('are created and deleted with their server', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { body } = await request('POST', '/compute/v2.1/servers', serverBody({ networks: [{ uuid: NETWORK }] }));
    await cloud.idle();
    const ports = () => request('GET', `/network/v2.0/ports?device_id=${body.server.id}`);
    const [port] = (await ports()).body.ports;
    expect(port).toMatchObject({
      status: 'ACTIVE',
      device_owner: 'compute:nova',
      'binding:host_id': expect.stringMatching(/^host/),
    });
    await request('DELETE', `/compute/v2.1/servers/${body.server.id}`);
    await cloud.idle();
    expect((await ports()).body.ports).toEqual([]);
  });

  it('keep the requested address and MAC, which are not assigned again', async () => {
    const { request, make, network } = await office(await cloudUnderTest());
    const expected = {
      network_id: network.id,
      mac_address: 'FA:16:3E:00:00:01',
      fixed_ips: [{ ip_address: '192.168.5.77' }],
    };
    const port = await make('ports', 'port', expected);
    expect(port).toMatchObject({ mac_address: 'fa:16:3e:00:00:01', fixed_ips: [{ ip_address: '192.168.5.77' }] });
    expect(
      (await request('POST', '/network/v2.0/ports', { port: { ...expected, mac_address: undefined } })).status,
    ).toBe(409);
    const found = await request('GET', '/network/v2.0/ports?fixed_ips=ip_address=192.168.5.77');
    expect(found.body.ports.map(({ id }: { id: string }) => id)).toEqual([port.id]);
    const changed = await request('PUT', `/network/v2.0/ports/${port.id}`, {
      port: { name: 'front', security_groups: [] },
    });
    expect(changed.body.port).toMatchObject({ name: 'front', security_groups: [] });
  });
});

describe('routers and floating addresses', () => {
  it('connect external networks with a server', async () => {
    const { request, make, network, subnet } = await office(await cloudUnderTest());
    const router = await make('routers', 'router', { name: 'edge', external_gateway_info: { network_id: PUBLIC } });
    expect(router.external_gateway_info).toMatchObject({ network_id: PUBLIC, enable_snat: true });
    const path = `/network/v2.0/routers/${router.id}`;
    expect((await request('PUT', `${path}/add_router_interface`, { subnet_id: subnet.id })).body.subnet_id).toBe(
      subnet.id,
    );
    expect((await request('DELETE', path)).status).toBe(409);
    const port = await make('ports', 'port', { network_id: network.id });
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC, port_id: port.id });
    expect(floating).toMatchObject({ router_id: router.id, fixed_ip_address: '192.168.5.2', status: 'ACTIVE' });
    const freed = await request('PUT', `/network/v2.0/floatingips/${floating.id}`, { floatingip: { port_id: null } });
    expect(freed.body.floatingip).toMatchObject({ port_id: null, router_id: null, status: 'DOWN' });
    await request('PUT', `${path}/remove_router_interface`, { subnet_id: subnet.id });
    expect(
      (await request('PUT', path, { router: { external_gateway_info: null } })).body.router.external_gateway_info,
    ).toBeNull();
    expect((await request('DELETE', path)).status).toBe(204);
  });
});

describe('security groups', () => {
  it('start with outbound rules, accept rules, and reject the same rule twice', async () => {
    const { request, make } = await office(await cloudUnderTest());
    const group = await make('security-groups', 'security_group', { name: 'web' });
    expect(group.security_group_rules.map((r: { direction: string }) => r.direction)).toEqual(['egress', 'egress']);
    const expected = {
      security_group_id: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      port_range_min: '80',
      port_range_max: 80,
    };
    const rule = await make('security-group-rules', 'security_group_rule', expected);
    expect(rule).toMatchObject({ ethertype: 'IPv4', port_range_min: 80, remote_ip_prefix: null });
    const again = await request('POST', '/network/v2.0/security-group-rules', { security_group_rule: expected });
    expect(again).toMatchObject({ status: 409, body: { NeutronError: { type: 'SecurityGroupRuleExists' } } });
    expect((await request('DELETE', `/network/v2.0/security-group-rules/${rule.id}`)).status).toBe(204);
    expect((await request('DELETE', `/network/v2.0/security-groups/${group.id}`)).status).toBe(204);
  });
});

describe('an operation for administrators only', () => {
  it.each([
    ['POST', '/network/v2.0/networks', { network: { shared: true } }],
    ['PUT', '/network/v2.0/quotas/x', { quota: { port: 5 } }],
  ])('is %s %s', async (method, path, body) => {
    const cloud = await cloudUnderTest();
    expect((await clientOf(cloud, cloud.token('demo', 'demo'))(method, path, body)).status).toBe(403);
    expect((await clientOf(cloud)(method, path, body)).status).toBeLessThan(300);
  });
});
