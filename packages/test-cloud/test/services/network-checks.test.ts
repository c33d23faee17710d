import { describe, expect, it } from 'vitest';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

const conflictOf = (type: string) => ({ status: 409, type });

describe('the MTU of a network', () => {
  it('is at most that of the physical network, minus the headers of the network type', async () => {
    const { request, make } = await networkUnderTest();
    const create = (fields: object) => request('POST', 'networks', { network: fields });
    const tooBig = (maximum: number) => ({
      status: 400,
      message: `Invalid input for operation: Requested MTU is too big, maximum is ${maximum}.`,
    });
    const vxlan = { 'provider:network_type': 'vxlan' };
    expect(await create({ mtu: 1501 })).toMatchObject(tooBig(1500));
    expect(await create({ ...vxlan, mtu: 1451 })).toMatchObject(tooBig(1450));
    const { id, mtu } = await make('networks', 'network', vxlan);
    expect(mtu).toBe(1450);
    expect(await request('PUT', `networks/${id}`, { network: { mtu: 1451 } })).toMatchObject(tooBig(1450));
    expect(await make('networks', 'network', { mtu: 1500 })).toMatchObject({ mtu: 1500 });
  });

  it('is large enough for its subnets', async () => {
    const { request, make } = await networkUnderTest();
    const subnet = { 4: { ip_version: 4, cidr: '10.90.0.0/24' }, 6: { ip_version: 6, cidr: '2001:db8:0:1::/64' } };
    const smallMtu = conflictOf('NetworkMTUSubnetConflict');
    for (const [version, minimum] of [
      [4, 68],
      [6, 1280],
    ] as const) {
      const small = await make('networks', 'network', { mtu: minimum - 1 });
      const onSmall = { subnet: { ...subnet[version], network_id: small.id } };
      expect(await request('POST', 'subnets', onSmall)).toMatchObject(smallMtu);
      const { id: network_id } = await make('networks', 'network', { mtu: minimum });
      await make('subnets', 'subnet', { ...subnet[version], network_id });
      const path = `networks/${network_id}`;
      expect(await request('PUT', path, { network: { mtu: minimum - 1 } })).toMatchObject(smallMtu);
      expect((await request('PUT', path, { network: { mtu: minimum + 1 } })).status).toBe(200);
    }
  });
});

it('the gateway address of a subnet cannot be changed while a router has it', async () => {
  const { request, make, subnet } = await networkUnderTest();
  const { id: subnet_id, gateway_ip } = await subnet('10.91.0.0/24');
  const change = (address: string | null) =>
    request('PUT', `subnets/${subnet_id}`, { subnet: { gateway_ip: address } });
  expect((await change('10.91.0.2')).status).toBe(200);
  expect((await change(gateway_ip)).status).toBe(200);
  const { id } = await make('routers', 'router', {});
  await request('PUT', `routers/${id}/add_router_interface`, { subnet_id });
  expect(await change('10.91.0.2')).toMatchObject(conflictOf('GatewayIpInUse'));
  expect(await change(null)).toMatchObject(conflictOf('GatewayIpInUse'));
  expect((await change(gateway_ip)).status).toBe(200);
  await request('PUT', `routers/${id}/remove_router_interface`, { subnet_id });
  expect((await change('10.91.0.2')).status).toBe(200);
});

describe('stateless security groups', () => {
  it('are not used together with stateful groups, and do not become stateful while ports use them', async () => {
    const { request, make } = await networkUnderTest();
    const group = async (stateful: boolean) => (await make('security-groups', 'security_group', { stateful })).id;
    const [stateful, stateless] = [await group(true), await group(false)];
    const { id: network_id } = await make('networks', 'network', {});
    const mixed = { security_groups: [stateful, stateless] };
    expect(await request('POST', 'ports', { port: { network_id, ...mixed } })).toMatchObject(
      conflictOf('SecurityGroupConflict'),
    );
    const port = await make('ports', 'port', { network_id, security_groups: [stateless] });
    expect(await request('PUT', `ports/${port.id}`, { port: mixed })).toMatchObject(
      conflictOf('SecurityGroupConflict'),
    );
    const change = (id: string, value: boolean) =>
      request('PUT', `security-groups/${id}`, { security_group: { stateful: value } });
    expect(await change(stateless, true)).toMatchObject(conflictOf('SecurityGroupInUse'));
    expect((await change(stateless, false)).status).toBe(200);
    expect((await change(stateful, false)).status).toBe(200);
    expect((await request('PUT', `ports/${port.id}`, { port: mixed })).status).toBe(200);
  });

  it('the rules of the default group are listed before other requests of the project', async () => {
    const { request, asMember } = await networkUnderTest();
    expect((await asMember('GET', 'security-group-rules')).body.security_group_rules).toHaveLength(4);
    const ofProject = `security-group-rules?project_id=${'a'.repeat(32)}`;
    expect((await request('GET', ofProject)).body.security_group_rules).toHaveLength(4);
    expect((await asMember('GET', ofProject)).body.security_group_rules).toEqual([]);
  });
});

describe('the subports of a trunk', () => {
  it('inherit the VLAN of their network', async () => {
    const { request, make } = await networkUnderTest();
    const portOn = async (fields: object) => {
      const { id: network_id } = await make('networks', 'network', fields);
      return (await make('ports', 'port', { network_id })).id;
    };
    const vlan = { 'provider:network_type': 'vlan', 'provider:physical_network': 'rack' };
    const [parent, inherits] = [await portOn({}), await portOn({ ...vlan, 'provider:segmentation_id': 7 })];
    const sub_ports = [{ port_id: inherits, segmentation_type: 'inherit' }];
    const trunk = await make('trunks', 'trunk', { port_id: parent, sub_ports });
    expect(trunk.sub_ports).toEqual([{ port_id: inherits, segmentation_type: 'vlan', segmentation_id: 7 }]);
    const other = [{ port_id: await portOn({}), segmentation_type: 'inherit' }];
    expect(await request('PUT', `trunks/${trunk.id}/add_subports`, { sub_ports: other })).toMatchObject({
      status: 400,
      message: "Invalid input for operation: Unknown segmentation_type 'geneve'.",
    });
  });

  it('have no larger MTU than the parent port', async () => {
    const { request, make } = await networkUnderTest();
    const portOn = async (mtu: number) => {
      const { id: network_id } = await make('networks', 'network', { mtu });
      return (await make('ports', 'port', { network_id })).id;
    };
    const [small, large] = [await portOn(1400), await portOn(1500)];
    const sub_ports = [{ port_id: large, segmentation_type: 'vlan', segmentation_id: 7 }];
    const tooLarge = conflictOf('SubPortMtuGreaterThanTrunkPortMtu');
    expect(await request('POST', 'trunks', { trunk: { port_id: small, sub_ports } })).toMatchObject(tooLarge);
    const { id } = await make('trunks', 'trunk', { port_id: small });
    expect(await request('PUT', `trunks/${id}/add_subports`, { sub_ports })).toMatchObject(tooLarge);
    const smaller = [{ ...sub_ports[0], port_id: await portOn(1300) }];
    expect((await request('PUT', `trunks/${id}/add_subports`, { sub_ports: smaller })).status).toBe(200);
  });
});

it('administrators see the port of a floating IP', async () => {
  const { request, asMember, make } = await networkUnderTest();
  const { id: device_id, floating_ip_address } = await make('floatingips', 'floatingip', {
    floating_network_id: PUBLIC,
  });
  const query = `ports?device_owner=network:floatingip&network_id=${PUBLIC}&device_id=${device_id}`;
  const [port, ...others] = (await request('GET', query)).body.ports;
  expect(others).toEqual([]);
  expect(port).toMatchObject({
    device_id,
    project_id: '',
    status: 'N/A',
    fixed_ips: [{ subnet_id: expect.any(String), ip_address: floating_ip_address }],
  });
  expect((await request('GET', `ports/${port.id}`)).body.port).toEqual(port);
  expect(await request('DELETE', `ports/${port.id}`)).toMatchObject(conflictOf('ServicePortInUse'));
  expect((await asMember('GET', query)).body.ports).toEqual([]);
  expect((await asMember('GET', `ports/${port.id}`)).status).toBe(404);
  await request('DELETE', `floatingips/${device_id}`);
  expect((await request('GET', query)).body.ports).toEqual([]);
});

describe('lists', () => {
  it('are filtered by fields that the caller cannot see', async () => {
    const { asMember, make } = await networkUnderTest();
    const vlan = { 'provider:network_type': 'vlan', 'provider:physical_network': 'rack', shared: true };
    const { id } = await make('networks', 'network', vlan);
    const { networks } = (await asMember('GET', 'networks?provider:network_type=vlan')).body;
    expect(networks).toMatchObject([{ id }]);
    expect(networks[0]).not.toHaveProperty('provider:network_type');
  });

  it('begin with the first page if the caller cannot see the marker', async () => {
    const { asMember, make } = await networkUnderTest();
    const hidden = await make('networks', 'network', { project_id: 'other' });
    const all = (await asMember('GET', 'networks')).body.networks;
    expect((await asMember('GET', `networks?limit=100&marker=${hidden.id}`)).body.networks).toEqual(all);
  });
});

it("a change to another project's shared address group or QoS policy does not reveal that it exists", async () => {
  const { asMember, make } = await networkUnderTest();
  const { id } = await make('qos/policies', 'policy', { name: 'slow', shared: true, project_id: 'other' });
  expect((await asMember('GET', `qos/policies/${id}`)).status).toBe(200);
  expect(await asMember('PUT', `qos/policies/${id}`, { policy: { name: 'x' } })).toMatchObject({
    status: 404,
    type: 'QosPolicyNotFound',
  });
});
