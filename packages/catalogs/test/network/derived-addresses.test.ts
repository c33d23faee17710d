import { describe, expect, it } from 'vitest';
import { ada, addresses, admin, networksUnderTest, sharedNetworks } from './networks-under-test.js';

const MAC = 'fa:16:3e:01:02:03';

describe.each(networksUnderTest)('addresses that guests derive themselves, on $kind', ({ open }) => {
  const cloud = sharedNetworks(open);

  it('are derived from the MAC address of the port in each SLAAC subnet, in addition to assigned ones', async () => {
    const networkId = await cloud.net(ada, '10.40.0.0/24');
    const modes = { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' } as const;
    const created = await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:40::/64', ...modes });
    await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:41::/64', ...modes });
    await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:42::/64', ipv6AddressMode: 'dhcpv6-stateful' });
    const port = await cloud.networks.createPort(ada, { networkId, mac: MAC });
    expect(addresses(port)).toEqual([
      expect.stringMatching(/^10\.40\.0\./),
      'fd00:40::f816:3eff:fe01:203',
      'fd00:41::f816:3eff:fe01:203',
      expect.stringMatching(/^fd00:42::/),
    ]);

    const elsewhere = { networkId, fixedIps: [{ subnetId: created.id, address: 'fd00:40::9' }] };
    await expect(cloud.networks.createPort(ada, elsewhere)).rejects.toMatchObject({ code: 'ADDRESS_IN_AUTO_SUBNET' });

    // A router does not derive its address, because guests expect the router at the gateway address.
    const router = await cloud.networks.createRouter(admin, { name: 'r' });
    const routerInterface = await cloud.networks.addRouterInterface(admin, router.id, { subnetId: created.id });
    expect(addresses(await cloud.networks.getPort(admin, routerInterface.id))).toEqual(['fd00:40::1']);

    // Derived addresses do not prevent a subnet's deletion, but router addresses do.
    await expect(cloud.networks.deleteSubnet(ada, created.id)).rejects.toMatchObject({ code: 'SUBNET_IN_USE' });
    await cloud.networks.removeRouterInterface(admin, router.id, { subnetId: created.id });
    await cloud.networks.deleteSubnet(ada, created.id);
    expect(addresses(await cloud.networks.getPort(ada, port.id))).not.toContain('fd00:40::f816:3eff:fe01:203');
  });
});
