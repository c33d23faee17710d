import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { NETWORK } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

describe('the network service', () => {
  it('selects the requested fields, in lists and for single resources', async () => {
    const { request } = await networkUnderTest();
    const { body } = await request('GET', `networks/${NETWORK}?fields=id&fields=name`);
    expect(body).toEqual({ network: { id: NETWORK, name: 'private' } });
  });

  it('connects routers with external networks by a port, with an address of each version', async () => {
    const { request, asMember, make } = await networkUnderTest();
    await make('subnets', 'subnet', { network_id: PUBLIC, ip_version: 6, cidr: '2001:db8:9::/64' });
    const external_gateway_info = { network_id: PUBLIC };
    const router = await make('routers', 'router', { external_gateway_info });
    const own = `ports?device_id=${router.id}&device_owner=network:router_gateway`;
    const { ports } = (await request('GET', own)).body;
    expect(ports).toMatchObject([{ network_id: PUBLIC, project_id: '', status: 'ACTIVE' }]);
    const { external_fixed_ips } = router.external_gateway_info;
    expect(external_fixed_ips).toEqual(ports[0].fixed_ips);
    expect(external_fixed_ips.map(({ ip_address }: { ip_address: string }) => ip_address.includes(':'))).toEqual([
      false,
      true,
    ]);
    expect((await asMember('GET', own)).body.ports).toEqual([]);
    expect((await request('DELETE', `ports/${ports[0].id}`)).type).toBe('ServicePortInUse');

    const same = { external_gateway_info: { network_id: PUBLIC, external_fixed_ips } };
    expect((await request('PUT', `routers/${router.id}`, { router: same })).status).toBe(200);
    expect((await request('GET', own)).body.ports[0].id).toBe(ports[0].id);
    await request('PUT', `routers/${router.id}`, { router: { external_gateway_info: null } });
    expect((await request('GET', own)).body.ports).toEqual([]);
  });

  it('adds an address to a gateway only if the request names this address or another subnet', async () => {
    const { request, make } = await networkUnderTest();
    const router = await make('routers', 'router', { external_gateway_info: { network_id: PUBLIC } });
    const [first] = router.external_gateway_info.external_fixed_ips;
    const addressesWith = async (further: object) => {
      const external_gateway_info = { network_id: PUBLIC, external_fixed_ips: [first, further] };
      const { body } = await request('PUT', `routers/${router.id}`, { router: { external_gateway_info } });
      return body.router.external_gateway_info.external_fixed_ips;
    };
    expect(await addressesWith({ subnet_id: first.subnet_id })).toEqual([first]);
    const named = { subnet_id: first.subnet_id, ip_address: '203.0.113.77' };
    expect(await addressesWith(named)).toEqual([first, named]);
    const { id: subnet_id } = await make('subnets', 'subnet', {
      network_id: PUBLIC,
      ip_version: 6,
      cidr: '2001:db8:9::/64',
    });
    expect(await addressesWith({ subnet_id })).toMatchObject([first, { subnet_id }]);
  });

  it.each([
    ['an unknown subnet', { subnet_id: PUBLIC }, 404, 'SubnetNotFound'],
    ["the subnet's own gateway", { ip_address: '203.0.113.1' }, 400, 'BadRequest'],
    ['an address elsewhere', { ip_address: '192.0.2.1' }, 400, 'InvalidIpForNetwork'],
  ])('rejects a gateway at %s', async (_what, fixedIp, status, type) => {
    const { request } = await networkUnderTest();
    const external_gateway_info = { network_id: PUBLIC, external_fixed_ips: [fixedIp] };
    expect(await request('POST', 'routers', { router: { external_gateway_info } })).toMatchObject({ status, type });
    expect((await request('GET', 'routers')).body.routers).toEqual([]);
  });

  it('rejects overlapping subnets on one router', async () => {
    const { request, make, subnet } = await networkUnderTest();
    const router = await make('routers', 'router', {});
    const [one, other] = [await subnet('10.70.0.0/16'), await subnet('10.70.5.0/24')];
    const add = (subnet_id: string) => request('PUT', `routers/${router.id}/add_router_interface`, { subnet_id });
    expect((await add(one.id)).status).toBe(200);
    expect(await add(one.id)).toMatchObject({ status: 400, type: 'BadRequest' });
    expect(await add(other.id)).toMatchObject({ status: 400, type: 'BadRequest' });
    expect(await add(randomUUID())).toMatchObject({ status: 404, type: 'SubnetNotFound' });
    expect(await add('x')).toMatchObject({ status: 400, type: 'BadRequest' });
  });

  it('associates floating addresses only with ports that a router connects with their network', async () => {
    const { request, make, subnet } = await networkUnderTest();
    const { id: subnet_id, network_id } = await subnet('10.71.0.0/24');
    const port = await make('ports', 'port', { network_id });
    const expected = { floatingip: { floating_network_id: PUBLIC, port_id: port.id } };
    const rejected = await request('POST', 'floatingips', expected);
    expect(rejected).toMatchObject({ status: 404, type: 'ExternalGatewayForFloatingIPNotFound' });
    expect((await request('GET', 'floatingips')).body.floatingips).toEqual([]);
    const inside = { floatingip: { floating_network_id: network_id } };
    expect(await request('POST', 'floatingips', inside)).toMatchObject({ status: 400, type: 'BadRequest' });

    const router = await make('routers', 'router', { external_gateway_info: { network_id: PUBLIC } });
    await request('PUT', `routers/${router.id}/add_router_interface`, { subnet_id });
    expect(await request('POST', 'floatingips', expected)).toMatchObject({ status: 201 });
    expect((await request('PUT', `routers/${router.id}`, { router: { external_gateway_info: null } })).type).toBe(
      'RouterExternalGatewayInUseByFloatingIp',
    );
    const leave = await request('PUT', `routers/${router.id}/remove_router_interface`, { subnet_id });
    expect(leave).toMatchObject({ status: 409, type: 'RouterInterfaceInUseByFloatingIP' });
  });

  it.each([
    [{ ip_version: 4, cidr: '10.72.0.0/24', ipv6_ra_mode: 'slaac' }],
    [{ ip_version: 6, cidr: 'fd00::/64', ipv6_ra_mode: 'slaac', ipv6_address_mode: 'dhcpv6-stateful' }],
    [{ ip_version: 6, cidr: 'fd00::/64', ipv6_ra_mode: 'slaac', enable_dhcp: false }],
    [{ ip_version: 6, cidr: 'fd00::/80', ipv6_address_mode: 'slaac' }],
  ])('rejects unsupported modes of a subnet: %j', async (subnet) => {
    const { request, make } = await networkUnderTest();
    const { id: network_id } = await make('networks', 'network', {});
    const rejected = await request('POST', 'subnets', { subnet: { network_id, ...subnet } });
    expect(rejected).toMatchObject({ status: 400, type: 'InvalidInput' });
  });

  it('shows external networks, but not their subnets, to members', async () => {
    const { asMember } = await networkUnderTest();
    const { subnets } = (await asMember('GET', `networks/${PUBLIC}`)).body.network;
    expect((await asMember('GET', `subnets?network_id=${PUBLIC}`)).body.subnets).toEqual([]);
    expect(await asMember('GET', `subnets/${subnets[0]}`)).toMatchObject({ status: 404, type: 'SubnetNotFound' });
  });

  it('deletes an external network with floating addresses that are not associated', async () => {
    const { request, make } = await networkUnderTest();
    const { id } = await make('networks', 'network', { 'router:external': true });
    await make('subnets', 'subnet', { network_id: id, ip_version: 4, cidr: '192.0.2.0/24' });
    const floating = await make('floatingips', 'floatingip', { floating_network_id: id });
    expect((await request('DELETE', `networks/${id}`)).status).toBe(204);
    expect((await request('GET', `floatingips/${floating.id}`)).type).toBe('FloatingIPNotFound');
  });

  it('has one default security group per project, and reserves its name', async () => {
    const { request, make } = await networkUnderTest();
    const [group] = (await request('GET', 'security-groups?name=default')).body.security_groups;
    const security_group = { name: 'default' };
    expect(await request('POST', 'security-groups', { security_group })).toMatchObject({
      status: 409,
      type: 'SecurityGroupDefaultAlreadyExists',
    });
    const rejected = { status: 409, type: 'SecurityGroupCannotUpdateDefault' };
    const rename = (id: string, name: string) => request('PUT', `security-groups/${id}`, { security_group: { name } });
    expect(await rename(group.id, 'web')).toMatchObject(rejected);
    const other = await make('security-groups', 'security_group', { name: 'web' });
    expect(await rename(other.id, 'default')).toMatchObject(rejected);
  });

  it.each([
    [{ protocol: 'bad' }, 'SecurityGroupRuleInvalidProtocol', /^Security group rule protocol bad not supported/],
    [{ protocol: '256' }, 'SecurityGroupRuleInvalidProtocol', /\[0 to 255\]/],
    [{ protocol: 'icmpv6' }, 'SecurityGroupEthertypeConflictWithProtocol', /^Invalid ethertype IPv4/],
    [{ protocol: 'tcp', port_range_min: -16, port_range_max: 80 }, 'SecurityGroupInvalidPortValue', /port -16$/],
    [{ protocol: 'tcp', port_range_min: 80, port_range_max: 65_536 }, 'SecurityGroupInvalidPortValue', /port 65536$/],
    [{ protocol: 'tcp', port_range_min: 80, port_range_max: 79 }, 'SecurityGroupInvalidPortRange', /must be <=/],
    [{ protocol: 'tcp', port_range_max: 6 }, 'SecurityGroupInvalidPortRange', /must be <=/],
    [{ protocol: 'icmp', port_range_min: 300, port_range_max: 1 }, 'SecurityGroupInvalidIcmpValue', /ICMP type/],
    [{ protocol: 'icmp', port_range_min: 1, port_range_max: 256 }, 'SecurityGroupInvalidIcmpValue', /ICMP code/],
    [{ protocol: 'icmp', port_range_max: 6 }, 'SecurityGroupMissingIcmpType', /is missing\.$/],
    [
      { protocol: 'gre', port_range_min: 1, port_range_max: 2 },
      'SecurityGroupInvalidProtocolForPort',
      /^Ports cannot be specified for protocol gre/,
    ],
    [{ protocol: '58' }, 'SecurityGroupEthertypeConflictWithProtocol', /^Invalid ethertype IPv4/],
    [
      { remote_ip_prefix: '10.0.0.0/8', remote_group_id: '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31' },
      'SecurityGroupMultipleRemoteEntites',
      /^Only one of remote_ip_prefix or remote_group_id/,
    ],
    [
      { remote_ip_prefix: '10.0.0.0/8', remote_address_group_id: '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31' },
      'SecurityGroupMultipleRemoteEntites',
      /^Only one of remote_ip_prefix or remote_group_id/,
    ],
    [{ port_range_min: 1, port_range_max: 2 }, 'SecurityGroupProtocolRequiredWithPorts', /^Must also specify/],
    [{ remote_ip_prefix: 'fd00::/64', ethertype: 'IPv4' }, 'SecurityGroupRuleParameterConflict', /CIDR fd00::\/64$/],
  ])('rejects the rule %j of a security group', async (rule, type, message) => {
    const { request, make } = await networkUnderTest();
    const { id: security_group_id } = await make('security-groups', 'security_group', { name: 'web' });
    const security_group_rule = { security_group_id, direction: 'ingress', ...rule };
    const rejected = await request('POST', 'security-group-rules', { security_group_rule });
    expect(rejected).toMatchObject({ status: 400, type, message: expect.stringMatching(message) });
  });

  it('rejects requests above a quota', async () => {
    const { request, asMember, make } = await networkUnderTest();
    const { project_id } = (await asMember('POST', 'networks', { network: {} })).body.network;
    const quota = { network: 2, router: 0, trunk: 0 };
    await request('PUT', `quotas/${project_id}`, { quota });
    expect((await asMember('POST', 'networks', { network: {} })).status).toBe(201);
    const rejected = { status: 409, type: 'OverQuota' };
    expect(await asMember('POST', 'networks', { network: {} })).toMatchObject({
      ...rejected,
      message: "Quota exceeded for resources: ['network'].",
    });
    expect(await asMember('POST', 'routers', { router: {} })).toMatchObject(rejected);
    const port = await make('ports', 'port', { network_id: NETWORK, project_id });
    expect(await asMember('POST', 'trunks', { trunk: { port_id: port.id } })).toMatchObject(rejected);
  });

  it('does not show agents or service providers to members', async () => {
    const { asMember } = await networkUnderTest();
    expect(await asMember('GET', 'agents')).toMatchObject({ status: 200, body: { agents: [] } });
    expect(await asMember('GET', 'service-providers')).toMatchObject({ status: 200, body: { service_providers: [] } });
  });

  it('changes the ports of a trunk with its parent port', async () => {
    const { request, make } = await networkUnderTest();
    const [parent, child] = [
      await make('ports', 'port', { network_id: NETWORK }),
      await make('ports', 'port', { network_id: NETWORK }),
    ];
    const sub_ports = [{ port_id: child.id, segmentation_type: 'vlan', segmentation_id: 5 }];
    const trunk = await make('trunks', 'trunk', { port_id: parent.id, sub_ports });
    expect(trunk.status).toBe('ACTIVE');
    const shown = async () => (await request('GET', `ports/${child.id}`)).body.port;
    expect(await shown()).toMatchObject({ device_owner: 'trunk:subport', status: 'DOWN' });
    await request('PUT', `ports/${parent.id}`, { port: { 'binding:host_id': 'compute1' } });
    expect(await shown()).toMatchObject({ status: 'ACTIVE', 'binding:host_id': 'compute1', 'binding:vif_type': 'ovs' });
    expect((await request('DELETE', `ports/${child.id}`)).type).toBe('PortInUseAsSubPort');
    expect((await request('DELETE', `ports/${parent.id}`)).type).toBe('PortInUseAsTrunkParent');

    const remove = () => request('PUT', `trunks/${trunk.id}/remove_subports`, { sub_ports: [{ port_id: child.id }] });
    await request('PUT', `trunks/${trunk.id}`, { trunk: { admin_state_up: false } });
    expect(await remove()).toMatchObject({ status: 409, type: 'TrunkDisabled' });
    await request('PUT', `trunks/${trunk.id}`, { trunk: { admin_state_up: true } });
    expect((await remove()).status).toBe(200);
    expect(await shown()).toMatchObject({ device_owner: '', 'binding:host_id': '' });
  });
});
