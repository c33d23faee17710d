import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';
import { largeCapacityApi, ada as owner } from './large-capacity-api.js';

describe('addresses and security groups of a server', () => {
  const api = sharedByTests(largeCapacityApi);

  const onNetwork = { networks: [{ uuid: ids.network }] };
  const old = () => api.as('ada:p1', '2.43');

  async function addressesOf(id: string): Promise<{ addr: string; 'OS-EXT-IPS:type': string }[]> {
    return Object.values((await old().get(`/servers/${id}`)).body.server.addresses).flat() as never;
  }

  it('lists addresses by network, with only version and address', async () => {
    const { id, addresses } = await old().boot(onNetwork);
    const [{ addr }] = addresses.private;
    expect((await old().get(`/servers/${id}/ips`)).body).toEqual({ addresses: { private: [{ version: 4, addr }] } });
    expect((await old().get(`/servers/${id}/ips/private`)).body).toEqual({ private: [{ version: 4, addr }] });
    const missing = await old().get(`/servers/${id}/ips/other`);
    expect([missing.status, missing.body.itemNotFound.message]).toEqual([
      404,
      'Instance is not a member of specified network',
    ]);
    expect((await api.as('bob:p2').get(`/servers/${id}/ips`)).status).toBe(404);
  });

  it('adds and removes fixed addresses until 2.43', async () => {
    const { id } = await old().boot(onNetwork);
    const added = await old().act(id, 'addFixedIp', { networkId: ids.network });
    expect([added.status, added.body]).toEqual([202, undefined]);
    const two = await addressesOf(id);
    expect(two).toHaveLength(2);
    expect((await old().act(id, 'removeFixedIp', { address: two[0]!.addr })).status).toBe(202);
    expect(await addressesOf(id)).toMatchObject([{ addr: two[1]!.addr }]);
    expect((await old().act(id, 'removeFixedIp', { address: two[0]!.addr })).status).toBe(400);
    expect((await old().act(id, 'removeFixedIp', { address: 'nowhere' })).status).toBe(400);
    expect((await old().act(id, 'addFixedIp', { networkId: ids.publicNetwork })).status).toBe(404);
    expect((await old().act(id, 'addFixedIp', { networkId: '' })).status).toBe(400);
    expect((await old().act(id, 'addFixedIp', { networkId: 7 })).status).toBe(404);
    const later = api.as('ada:p1', '2.44');
    expect((await later.act(id, 'addFixedIp', { networkId: ids.network })).status).toBe(404);
    expect((await later.act(id, 'removeFixedIp', { address: '10.0.0.1' })).status).toBe(404);
    await old().act(id, 'lock');
    expect((await old().act(id, 'addFixedIp', { networkId: ids.network })).status).toBe(409);
    expect((await old().act(id, 'removeFixedIp', { address: two[1]!.addr })).status).toBe(409);
  });

  it('associates and disassociates floating addresses until 2.43', async () => {
    const { id } = await old().boot(onNetwork);
    const { address } = await api.engine.embedded.networks.allocateFloatingIp(owner);
    const added = await old().act(id, 'addFloatingIp', { address });
    expect([added.status, added.body]).toEqual([202, undefined]);
    expect(await addressesOf(id)).toMatchObject([
      { 'OS-EXT-IPS:type': 'fixed' },
      { 'OS-EXT-IPS:type': 'floating', addr: address },
    ]);
    const other = await old().boot(onNetwork);
    expect((await old().act(other.id, 'removeFloatingIp', { address })).status).toBe(409);
    expect((await old().act(id, 'removeFloatingIp', { address })).status).toBe(202);
    expect(await addressesOf(id)).toHaveLength(1);
    expect((await old().act(id, 'removeFloatingIp', { address: '203.0.113.250' })).status).toBe(404);
    expect((await old().act(id, 'addFloatingIp', { address: '203.0.113.250' })).status).toBe(404);
    expect((await old().act(id, 'addFloatingIp', { address, fixed_address: '10.9.9.9' })).status).toBe(400);
    expect((await old().act(id, 'addFloatingIp', { address: 'x' })).status).toBe(400);
    const bare = await old().boot();
    expect((await old().act(bare.id, 'addFloatingIp', { address })).status).toBe(400);
    const later = api.as('ada:p1', '2.44');
    expect((await later.act(id, 'addFloatingIp', { address })).status).toBe(404);
    expect((await later.act(id, 'removeFloatingIp', { address })).status).toBe(404);
  });

  it('rejects a second floating address for the same fixed one', async () => {
    const { id } = await old().boot(onNetwork);
    const { networks } = api.engine.embedded;
    const [one, two] = [await networks.allocateFloatingIp(owner), await networks.allocateFloatingIp(owner)];
    expect((await old().act(id, 'addFloatingIp', { address: one.address })).status).toBe(202);
    expect((await old().act(id, 'addFloatingIp', { address: two.address })).status).toBe(400);
  });

  it('adds and removes security groups at every version, and shows them with their rules', async () => {
    const { networks } = api.engine.embedded;
    const group = await networks.createSecurityGroup(owner, { name: 'web', description: 'http' });
    const rule = {
      securityGroupId: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      portMin: 80,
      portMax: 80,
    } as const;
    await networks.createSecurityGroupRule(owner, { ...rule, remoteCidr: '192.0.2.0/24' });
    await networks.createSecurityGroupRule(owner, {
      ...rule,
      protocol: 'icmp',
      portMin: null,
      portMax: null,
      remoteGroupId: group.id,
    });
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot(onNetwork);
    const added = await ada.act(id, 'addSecurityGroup', { name: 'web' });
    expect([added.status, added.body]).toEqual([202, undefined]);
    const names = async () =>
      (await ada.get(`/servers/${id}`)).body.server.security_groups.map((g: any) => g.name).sort();
    expect(await names()).toEqual(['default', 'web']);
    const shown = (await ada.get(`/servers/${id}/os-security-groups`)).body.security_groups;
    const web = shown.find((g: any) => g.name === 'web');
    const common = { id: expect.any(String), parent_group_id: group.id };
    expect(web).toEqual({
      id: group.id,
      name: 'web',
      description: 'http',
      tenant_id: 'p1',
      rules: [
        { ...common, ip_protocol: 'tcp', from_port: 80, to_port: 80, group: {}, ip_range: { cidr: '192.0.2.0/24' } },
        {
          ...common,
          ip_protocol: 'icmp',
          from_port: -1,
          to_port: -1,
          group: { name: 'web', tenant_id: 'p1' },
          ip_range: {},
        },
      ],
    });
    expect((await ada.act(id, 'removeSecurityGroup', { name: 'web' })).status).toBe(202);
    expect(await names()).toEqual(['default']);
    expect((await ada.act(id, 'removeSecurityGroup', { name: 'web' })).status).toBe(404);
    expect((await ada.act(id, 'addSecurityGroup', { name: 'nothing' })).status).toBe(404);
    expect((await ada.act(id, 'addSecurityGroup', { name: '' })).status).toBe(400);
    expect((await ada.act(id, 'addSecurityGroup', {})).status).toBe(400);
    await networks.createSecurityGroup(owner, { name: 'web' });
    expect((await ada.act(id, 'addSecurityGroup', { name: 'web' })).status).toBe(409);
    const bare = await ada.boot();
    expect((await ada.act(bare.id, 'addSecurityGroup', { name: group.id })).status).toBe(404);
    expect((await ada.get(`/servers/${bare.id}/os-security-groups`)).body).toEqual({ security_groups: [] });
  });

  it('never causes a 500, for any arguments of actions', async () => {
    const { id } = await old().boot(onNetwork);
    const keys = {
      addFixedIp: 'networkId',
      removeFixedIp: 'address',
      addFloatingIp: 'address',
      removeFloatingIp: 'address',
      addSecurityGroup: 'name',
      removeSecurityGroup: 'name',
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.entries(keys)),
        fc.anything(),
        fc.string({ unit: 'binary' }),
        async ([action, key], value, text) => {
          for (const argument of [value, { [key]: value }, { [key]: text }])
            expect([400, 404]).toContain((await old().act(id, action, argument)).status);
        },
      ),
      { numRuns: 80 },
    );
  });
});
