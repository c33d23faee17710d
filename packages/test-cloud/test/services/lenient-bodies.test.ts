import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest, NETWORK } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

it.each([undefined, 'application/x-www-form-urlencoded', 'text/plain'])(
  'the network service reads bodies as JSON with the media type %s',
  async (type) => {
    const cloud = await cloudUnderTest();
    const body = new TextEncoder().encode(JSON.stringify({ network: { name: 'changed' } }));
    const response = await fetch(`${cloud.url}/network/v2.0/networks/${NETWORK}`, {
      method: 'PUT',
      headers: { 'X-Auth-Token': cloud.token('admin', 'admin', ['admin']), ...(type && { 'Content-Type': type }) },
      body,
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ network: { name: 'changed' } });
  },
);

it('the network service rejects a project under two names with different values', async () => {
  const { request } = await networkUnderTest();
  const network = { name: 'n', project_id: 'a', tenant_id: 'b' };
  expect(await request('POST', 'networks', { network })).toMatchObject({
    status: 400,
    message: "'project_id' and 'tenant_id' do not match",
  });
  expect((await request('POST', 'networks', { network: { ...network, tenant_id: 'a' } })).status).toBe(201);
});

it('address groups contain each subnet once, without the bits of hosts', async () => {
  const { request, make } = await networkUnderTest();
  const addresses = ['10.10.10.3/32', '192.168.0.10/24', '192.168.0.0/24', '2001:db8::f00/64'];
  const group = await make('address-groups', 'address_group', { addresses });
  expect(group.addresses).toEqual(['10.10.10.3/32', '192.168.0.0/24', '2001:db8::/64']);
  const remove = { addresses: ['192.168.0.77/24'] };
  const removed = await request('PUT', `address-groups/${group.id}/remove_addresses`, remove);
  expect(removed.body.address_group.addresses).toEqual(['10.10.10.3/32', '2001:db8::/64']);
  const changed = async (action: string, address: string) =>
    (await request('PUT', `address-groups/${group.id}/${action}`, { addresses: [address] })).status;
  expect(await changed('remove_addresses', '10.0.0.1')).toBe(404);
  expect(await changed('add_addresses', '10.0.0.1')).toBe(200);
  expect(await changed('add_addresses', '10.0.0.1/32')).toBe(400);
  expect(await changed('add_addresses', 'not an address')).toBe(400);
  const address_group = { addresses: ['10.0.0.1'] };
  expect((await request('POST', 'address-groups', { address_group })).status).toBe(400);
});

it('an empty change of a floating address ends its association', async () => {
  const { request, make } = await networkUnderTest();
  const port = await make('ports', 'port', { network_id: NETWORK });
  const { id } = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC, port_id: port.id });
  const change = async (floatingip: object) =>
    (await request('PUT', `floatingips/${id}`, { floatingip })).body.floatingip;
  expect((await change({ description: 'mail' })).port_id).toBe(port.id);
  expect(await change({})).toMatchObject({ port_id: null, description: 'mail' });
});

it.each([
  ['3.52', 202],
  ['3.53', 400],
])('the volume service handles unknown fields of new volumes at %s with status %d', async (version, status) => {
  const cloud = await cloudUnderTest();
  const volume = { size: 1, unexpected: 'x' };
  const headers = { 'OpenStack-API-Version': `volume ${version}` };
  expect((await clientOf(cloud)('POST', '/volume/v3/volumes', { volume }, headers)).status).toBe(status);
});
