import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

/** Creates a network with a subnet, and a server with a port on it. */
async function serverWithPort() {
  const { cloud, request, make, subnet } = await networkUnderTest();
  const { network_id: uuid } = await subnet('10.7.0.0/24');
  const compute = clientOf(cloud);
  const { server } = (await compute('POST', '/compute/v2.1/servers', serverBody({ networks: [{ uuid }] }))).body;
  await cloud.idle();
  const [port] = (await request('GET', `ports?device_id=${server.id}`)).body.ports;
  async function deleteServer(): Promise<void> {
    await compute('DELETE', `/compute/v2.1/servers/${server.id}`);
    await cloud.idle();
    expect((await request('GET', `ports/${port.id}`)).status).toBe(404);
  }
  return { request, make, port, deleteServer };
}

describe('after the deletion of a server with its port', () => {
  it('a QoS policy of the port can be deleted', async () => {
    const { request, make, port, deleteServer } = await serverWithPort();
    const policy = await make('qos/policies', 'policy', { name: 'slow' });
    await request('PUT', `ports/${port.id}`, { port: { qos_policy_id: policy.id } });
    expect(await request('DELETE', `qos/policies/${policy.id}`)).toMatchObject({ status: 409, type: 'QosPolicyInUse' });
    await deleteServer();
    expect((await request('DELETE', `qos/policies/${policy.id}`)).status).toBe(204);
  });

  it('a floating IP has no port forwardings to the port', async () => {
    const { request, make, port, deleteServer } = await serverWithPort();
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const path = `floatingips/${floating.id}`;
    await make(`${path}/port_forwardings`, 'port_forwarding', {
      ...{ internal_port_id: port.id, internal_ip_address: port.fixed_ips[0].ip_address, protocol: 'tcp' },
      ...{ external_port: 80, internal_port: 80 },
    });
    await deleteServer();
    expect((await request('GET', path)).body.floatingip.port_forwardings).toEqual([]);
    expect((await request('DELETE', path)).status).toBe(204);
  });
});

it('after the deletion of a server with its volume, the group of the volume is empty', async () => {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud);
  const volume = (method: string, path: string, body?: object) =>
    send(method, `/volume/v3/${path}`, body, { 'OpenStack-API-Version': 'volume 3.70' });
  const type = (await volume('POST', 'types', { volume_type: { name: 'fast' } })).body.volume_type.id;
  const groupType = (await volume('POST', 'group_types', { group_type: { name: 'any' } })).body.group_type.id;
  const given = { group_type: groupType, volume_types: [type] };
  const group = (await volume('POST', 'groups', { group: given })).body.group.id;
  const fields = { size: 1, volume_type: type, group_id: group };
  const { id: uuid } = (await volume('POST', 'volumes', { volume: fields })).body.volume;
  await volume('POST', `volumes/${uuid}/action`, { 'os-set_bootable': { bootable: true } });
  const disk = { uuid, source_type: 'volume', destination_type: 'volume', boot_index: 0, delete_on_termination: true };
  const body = serverBody({ imageRef: undefined, block_device_mapping_v2: [disk] });
  const { server } = (await send('POST', '/compute/v2.1/servers', body)).body;
  await cloud.idle();
  const members = async () => (await volume('GET', `groups/${group}?list_volume=true`)).body.group.volumes;
  expect(await members()).toEqual([uuid]);
  await send('DELETE', `/compute/v2.1/servers/${server.id}`);
  await cloud.idle();
  expect(await members()).toEqual([]);
  expect((await volume('POST', `groups/${group}/action`, { delete: {} })).status).toBe(202);
});

describe('in the network service', () => {
  it('address groups and segments in use cannot be deleted', async () => {
    const { request, make, subnet } = await networkUnderTest();
    const addresses = await make('address-groups', 'address_group', { addresses: ['10.0.0.0/8'] });
    const group = await make('security-groups', 'security_group', { name: 'web' });
    const rule = { security_group_id: group.id, direction: 'ingress', remote_address_group_id: addresses.id };
    await make('security-group-rules', 'security_group_rule', rule);
    const path = `address-groups/${addresses.id}`;
    expect(await request('DELETE', path)).toMatchObject({ status: 409, type: 'AddressGroupInUse' });
    await request('DELETE', `security-groups/${group.id}`);
    expect((await request('DELETE', path)).status).toBe(204);
    const missing = { ...rule, security_group_id: (await make('security-groups', 'security_group', { name: 'x' })).id };
    expect(await request('POST', 'security-group-rules', { security_group_rule: missing })).toMatchObject({
      status: 404,
      type: 'AddressGroupNotFound',
    });

    const { id, network_id } = await subnet('10.8.0.0/24');
    const segment = await make('segments', 'segment', { network_id, network_type: 'vxlan', segmentation_id: 77 });
    await request('PUT', `subnets/${id}`, { subnet: { segment_id: segment.id } });
    expect(await request('DELETE', `segments/${segment.id}`)).toMatchObject({ status: 409, type: 'SegmentInUse' });
    await request('DELETE', `subnets/${id}`);
    expect((await request('DELETE', `segments/${segment.id}`)).status).toBe(204);
  });

  it('conntrack helpers are deleted with their router, and port forwardings with the address of their port', async () => {
    const { request, make, subnet } = await networkUnderTest();
    const router = await make('routers', 'router', {});
    const helpers = `routers/${router.id}/conntrack_helpers`;
    await make(helpers, 'conntrack_helper', { helper: 'tftp', protocol: 'udp', port: 69 });
    await request('DELETE', `routers/${router.id}`);
    expect((await request('GET', helpers)).body.conntrack_helpers).toEqual([]);

    const { network_id } = await subnet('10.9.0.0/24');
    const port = await make('ports', 'port', { network_id, fixed_ips: [{ ip_address: '10.9.0.5' }] });
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const path = `floatingips/${floating.id}/port_forwardings`;
    await make(path, 'port_forwarding', {
      ...{ internal_port_id: port.id, internal_ip_address: '10.9.0.5', protocol: 'tcp' },
      ...{ external_port: 80, internal_port: 80 },
    });
    await request('PUT', `ports/${port.id}`, { port: { name: 'renamed' } });
    expect((await request('GET', path)).body.port_forwardings).toHaveLength(1);
    await request('PUT', `ports/${port.id}`, { port: { fixed_ips: [{ ip_address: '10.9.0.6' }] } });
    expect((await request('GET', path)).body.port_forwardings).toEqual([]);
  });
});
