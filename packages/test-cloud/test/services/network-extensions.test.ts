import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, NETWORK } from '../clouds.js';

const PUBLIC = '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31';

async function network() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const at = (path: string) => `/network/v2.0/${path}`;
  const make = async (path: string, one: string, given: object) => {
    const { status, body } = await request('POST', at(path), { [one]: given });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body[one];
  };
  return { cloud, request, at, make };
}

describe('additional resources of the network service', () => {
  it.each([
    ['subnetpools', 'subnetpool', { name: 'p', prefixes: ['10.10.0.0/16'] }],
    ['address-scopes', 'address_scope', { name: 's', ip_version: 4 }],
    ['address-groups', 'address_group', { name: 'g', addresses: ['10.0.0.0/8'] }],
    [
      'rbac-policies',
      'rbac_policy',
      { object_type: 'network', object_id: NETWORK, target_tenant: PUBLIC, action: 'access_as_shared' },
    ],
    ['qos/policies', 'policy', { name: 'slow' }],
    ['segments', 'segment', { network_id: NETWORK, network_type: 'geneve' }],
    ['network-segment-ranges', 'network_segment_range', { network_type: 'vxlan', minimum: 1, maximum: 9 }],
    ['metering/metering-labels', 'metering_label', { name: 'm' }],
    ['flavors', 'flavor', { service_type: 'L3_ROUTER_NAT' }],
    ['service_profiles', 'service_profile', { driver: 'x' }],
    ['bgp-peers', 'bgp_peer', { name: 'b', peer_ip: '192.0.2.1', remote_as: 64512, auth_type: 'none' }],
    ['bgp-speakers', 'bgp_speaker', { name: 'b', local_as: 64512 }],
  ])('are created, shown, listed and deleted: %s', async (path, one, given) => {
    const { request, at, make } = await network();
    const created = await make(path, one, given);
    expect(created).toMatchObject({ id: expect.any(String) });
    expect((await request('GET', at(`${path}/${created.id}`))).body[one]).toEqual(created);
    const listed = Object.values((await request('GET', at(`${path}?id=${created.id}`))).body)[0];
    expect(listed).toEqual([created]);
    expect((await request('DELETE', at(`${path}/${created.id}`))).status).toBe(204);
    expect((await request('GET', at(`${path}/${created.id}`))).status).toBe(404);
  });

  it('include flavors of each service plugin', async () => {
    const { request, at, make } = await network();
    expect(await make('flavors', 'flavor', { service_type: 'FLAVORS' })).toMatchObject({ service_type: 'FLAVORS' });
    expect(await request('POST', at('flavors'), { flavor: { service_type: 'VPN' } })).toMatchObject({
      status: 400,
      body: { NeutronError: { type: 'InvalidServiceType', message: 'Invalid service type: VPN.' } },
    });
  });

  it('include BGP speakers, which have no agents and advertise no routes', async () => {
    const { request, at, make } = await network();
    const { id } = await make('bgp-speakers', 'bgp_speaker', { name: 'b', local_as: 64512 });
    const path = (of: string) => at(`bgp-speakers/${of}/get_advertised_routes`);
    expect(await request('GET', path(id))).toMatchObject({ status: 200, body: { advertised_routes: [] } });
    expect((await request('GET', path(NETWORK))).status).toBe(404);
    expect((await request('GET', at(`bgp-speakers/${id}/bgp-dragents`))).body).toEqual({ agents: [] });
  });

  it('include subnets that are allocated from pools', async () => {
    const { request, at, make } = await network();
    const pool = await make('subnetpools', 'subnetpool', {
      name: 'p',
      prefixes: ['10.8.0.0/16'],
      default_prefixlen: 26,
    });
    expect(pool).toMatchObject({ ip_version: 4, min_prefixlen: '8', max_prefixlen: '32' });
    const { id } = await make('networks', 'network', {});
    const cut = (fields: object) =>
      make('subnets', 'subnet', { network_id: id, ip_version: 4, subnetpool_id: pool.id, ...fields });
    expect(await cut({})).toMatchObject({ cidr: '10.8.0.0/26', subnetpool_id: pool.id });
    expect((await cut({ prefixlen: 25 })).cidr).toBe('10.8.0.128/25');
    expect((await request('DELETE', at(`subnetpools/${pool.id}`))).status).toBe(409);
  });

  it('include trunks, each port in at most one', async () => {
    const { request, at, make } = await network();
    const [parent, child] = [
      await make('ports', 'port', { network_id: NETWORK }),
      await make('ports', 'port', { network_id: NETWORK }),
    ];
    const trunk = await make('trunks', 'trunk', { port_id: parent.id });
    const sub = { port_id: child.id, segmentation_type: 'vlan', segmentation_id: 7 };
    const add = () => request('PUT', at(`trunks/${trunk.id}/add_subports`), { sub_ports: [sub] });
    expect((await add()).body.sub_ports).toEqual([sub]);
    expect((await add()).status).toBe(409);
    const [listed] = (await request('GET', at(`ports?id=${parent.id}`))).body.ports;
    expect(listed.trunk_details).toEqual({ trunk_id: trunk.id, sub_ports: [sub] });
    expect((await request('GET', at(`ports/${parent.id}`))).body.port.trunk_details).toEqual({
      trunk_id: trunk.id,
      sub_ports: [{ ...sub, mac_address: child.mac_address }],
    });
    const removed = await request('PUT', at(`trunks/${trunk.id}/remove_subports`), {
      sub_ports: [{ port_id: child.id }],
    });
    expect(removed.body.sub_ports).toEqual([]);
    expect((await request('DELETE', at(`trunks/${trunk.id}`))).status).toBe(204);
  });

  it('include port forwardings of floating addresses, and extra routes of routers', async () => {
    const { request, at, make } = await network();
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const port = await make('ports', 'port', { network_id: NETWORK });
    const forwarding = {
      internal_port_id: port.id,
      internal_ip_address: port.fixed_ips[0].ip_address,
      internal_port: 25,
      external_port: 2230,
      protocol: 'tcp',
    };
    const path = `floatingips/${floating.id}/port_forwardings`;
    const created = await make(path, 'port_forwarding', forwarding);
    expect(created).toMatchObject(forwarding);
    expect((await request('POST', at(path), { port_forwarding: forwarding })).status).toBe(400);
    expect(
      (await request('PUT', at(`${path}/${created.id}`), { port_forwarding: { internal_port: 26 } })).body
        .port_forwarding.internal_port,
    ).toBe(26);
    expect((await request('GET', at(`floatingips/${floating.id}`))).body.floatingip.port_forwardings).toHaveLength(1);
    const router = await make('routers', 'router', {});
    const { id: network_id } = await make('networks', 'network', {});
    const subnet = await make('subnets', 'subnet', { network_id, ip_version: 4, cidr: '10.0.0.0/24' });
    await request('PUT', at(`routers/${router.id}/add_router_interface`), { subnet_id: subnet.id });
    const route = (n: number, nexthop = '10.0.0.9') => ({ destination: `10.${n}.0.0/16`, nexthop });
    const put = async (action: string, routes: object[]) =>
      (await request('PUT', at(`routers/${router.id}/${action}`), { router: { routes } })).body.router.routes;
    expect(await put('add_extraroutes', [route(1), route(2)])).toEqual([route(1), route(2)]);
    expect(await put('remove_extraroutes', [route(1)])).toEqual([route(2)]);
    for (const [nexthop, reason] of [
      ['192.0.2.1', 'the nexthop is not connected with router'],
      ['10.0.0.1', 'the nexthop is used by router'],
    ] as const) {
      const rejected = await request('PUT', at(`routers/${router.id}`), { router: { routes: [route(3, nexthop)] } });
      expect(rejected).toMatchObject({ status: 400, body: { NeutronError: { type: 'InvalidRoutes' } } });
      expect(rejected.body.NeutronError.message).toContain(reason);
    }
    await request('PUT', at(`quotas/${router.project_id}`), { quota: { router_route: 1 } });
    const exceeding = await request('PUT', at(`routers/${router.id}`), { router: { routes: [route(1), route(2)] } });
    expect(exceeding).toMatchObject({ status: 409, body: { NeutronError: { type: 'OverQuota' } } });
  });

  it('include those that the guide adds, exactly as it shows them', async () => {
    const root = new URL('../../../../', import.meta.url);
    const file = 'packages/test-cloud/src/network/conntrack-helpers.ts';
    const guide = readFileSync(new URL('docs/adding-a-resource.md', root), 'utf8');
    expect(guide).toContain(`\`\`\`ts\n// ${file}\n${readFileSync(new URL(file, root), 'utf8')}\`\`\``);
    const { request, at, make } = await network();
    const router = await make('routers', 'router', {});
    const path = `routers/${router.id}/conntrack_helpers`;
    const created = await make(path, 'conntrack_helper', { helper: 'ftp', protocol: 'tcp', port: 21 });
    expect(created).toEqual({ id: created.id, helper: 'ftp', protocol: 'tcp', port: 21 });
    expect((await request('GET', at(`${path}?helper=sip`))).body.conntrack_helpers).toEqual([]);
    const rejected = await request('POST', at(path), { conntrack_helper: { helper: 'ftp', protocol: 'tcp', port: 0 } });
    expect(rejected.status).toBe(400);
  });

  it('include policies with rules that limit traffic', async () => {
    const { request, at, make } = await network();
    const policy = await make('qos/policies', 'policy', { name: 'slow' });
    const path = `qos/policies/${policy.id}/bandwidth_limit_rules`;
    const rule = await make(path, 'bandwidth_limit_rule', { max_kbps: 1000 });
    expect(rule).toEqual({ id: rule.id, max_kbps: 1000, max_burst_kbps: 0, direction: 'egress' });
    expect((await request('GET', at(`qos/policies/${policy.id}`))).body.policy.rules).toMatchObject([
      { type: 'bandwidth_limit', id: rule.id },
    ]);
    const port = await make('ports', 'port', { network_id: NETWORK, qos_policy_id: policy.id });
    expect(port.qos_policy_id).toBe(policy.id);
    expect((await request('DELETE', at(`qos/policies/${policy.id}`))).status).toBe(409);
    expect((await request('DELETE', at(`${path}/${rule.id}`))).status).toBe(204);
  });

  it('include trusted ports, which only administrators declare and see', async () => {
    const { cloud, request, at, make } = await network();
    expect((await request('GET', at('extensions/port-trusted-vif'))).status).toBe(200);
    const { id, trusted } = await make('ports', 'port', { network_id: NETWORK });
    expect(trusted).toBeNull();
    const update = { port: { trusted: true, 'binding:profile': { capabilities: ['switchdev'] } } };
    const { port } = (await request('PUT', at(`ports/${id}`), update)).body;
    expect(port).toMatchObject({ trusted: true, 'binding:profile': { capabilities: ['switchdev'], trusted: true } });
    const asMember = clientOf(cloud, cloud.token('demo', 'demo'));
    const own = (await asMember('POST', at('ports'), { port: { network_id: NETWORK } })).body.port;
    expect(own).not.toHaveProperty('trusted');
    expect((await asMember('PUT', at(`ports/${own.id}`), { port: { trusted: true } })).status).toBe(403);
  });

  it('are restored from a saved state', async () => {
    const { cloud, request, at, make } = await network();
    await make('address-scopes', 'address_scope', { name: 's', ip_version: 4 });
    const state = await cloud.save();
    await cloud.reset();
    const list = async () => (await clientOf(cloud)('GET', at('address-scopes'))).body.address_scopes;
    expect(await list()).toEqual([]);
    await cloud.restore(state);
    expect(await list()).toHaveLength(1);
    expect((await request('GET', at('address-scopes'))).status).toBe(200);
  });
});
