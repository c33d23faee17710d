import { describe, expect, it } from 'vitest';
import { ada, addresses, admin, networksUnderTest, sharedNetworks } from './networks-under-test.js';

const MAC = 'fa:16:3e:01:02:03';

describe.each(networksUnderTest)('addresses that guests make themselves, on $kind', ({ open }) => {
  const cloud = sharedNetworks(open);

  it('are those of ports: made of the MAC address, in each such subnet, beside those that are given', async () => {
    const networkId = await cloud.net(ada, '10.40.0.0/24');
    const modes = { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' } as const;
    const made = await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:40::/64', ...modes });
    await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:41::/64', ...modes });
    await cloud.networks.createSubnet(ada, { networkId, cidr: 'fd00:42::/64', ipv6AddressMode: 'dhcpv6-stateful' });
    const port = await cloud.networks.createPort(ada, { networkId, mac: MAC });
    expect(addresses(port)).toEqual([
      expect.stringMatching(/^10\.40\.0\./),
      expect.stringMatching(/^fd00:42::/),
      'fd00:40::f816:3eff:fe01:203',
      'fd00:41::f816:3eff:fe01:203',
    ]);

    // A router is where its subnets' guests look for it.
    const router = await cloud.networks.createRouter(admin, { name: 'r' });
    const way = await cloud.networks.addRouterInterface(admin, router.id, { subnetId: made.id });
    expect(addresses(await cloud.networks.getPort(admin, way.id))).toEqual(['fd00:40::1']);
  });
});
