import { describe, expect, it } from 'vitest';
import { addresses, admin, networksUnderTest, sharedNetworks } from './networks-under-test.js';

describe.each(networksUnderTest)('gateways of routers on $kind', ({ open }) => {
  const cloud = sharedNetworks(open);

  const external = () => cloud.networks.createNetwork(admin, { name: 'outside', external: true });
  const router = (externalNetworkId: string) => cloud.networks.createRouter(admin, { name: 'r', externalNetworkId });
  /** Returns the router's external addresses, after checking that the router's port has the same addresses. */
  async function listExternalAddresses(id: string): Promise<readonly string[]> {
    const { externalAddresses } = await cloud.networks.getRouter(admin, id);
    const [port] = await cloud.networks.listPorts(admin, { deviceIds: [id] });
    const listed = externalAddresses.map(({ address }) => address);
    expect(addresses(port!)).toEqual(listed);
    return listed;
  }

  it('have one address of each IP version, regardless of the number of subnets', async () => {
    const { id: networkId } = await external();
    for (const cidr of ['198.51.100.0/25', '198.51.100.128/25', '2001:db8:1::/64', '2001:db8:2::/64'])
      await cloud.networks.createSubnet(admin, { networkId, cidr });
    const { id } = await router(networkId);
    expect(await listExternalAddresses(id)).toEqual([
      expect.stringMatching(/^198\.51\.100\.\d{1,2}$/),
      expect.stringMatching(/^2001:db8:1::/),
    ]);
  });

  it('derive their addresses in subnets where hosts do', async () => {
    const { id: networkId } = await external();
    const modes = { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' } as const;
    await cloud.networks.createSubnet(admin, { networkId, cidr: '2001:db8:3::/64', ...modes });
    await cloud.networks.createSubnet(admin, { networkId, cidr: '2001:db8:4::/64' });
    const { id } = await router(networkId);
    expect(await listExternalAddresses(id)).toEqual([
      expect.stringMatching(/^2001:db8:3:0:.*ff:fe/),
      expect.stringMatching(/^2001:db8:4::/),
    ]);
  });

  it('get an address of a new subnet if they have no address of its IP version; autoconfigured addresses are always added', async () => {
    const { id: networkId } = await external();
    const { id } = await router(networkId);
    expect(await listExternalAddresses(id)).toEqual([]);
    const add = (cidr: string, more = {}) => cloud.networks.createSubnet(admin, { networkId, cidr, ...more });
    await add('198.51.100.0/24');
    expect(await listExternalAddresses(id)).toHaveLength(1);
    await add('2001:db8:6::/64');
    const both = [expect.stringMatching(/^198\.51\.100\./), expect.stringMatching(/^2001:db8:6::/)];
    expect(await listExternalAddresses(id)).toEqual(both);
    await add('192.0.2.0/24');
    await add('2001:db8:7::/64');
    expect(await listExternalAddresses(id)).toEqual(both);
    await add('2001:db8:8::/64', { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' });
    expect(await listExternalAddresses(id)).toEqual([...both, expect.stringMatching(/^2001:db8:8:0:.*ff:fe/)]);
    // When the gateway is removed, all its addresses are released, so that the subnets can be deleted.
    await cloud.networks.updateRouter(admin, id, { externalNetworkId: null });
    for (const { id: subnetId } of await cloud.networks.listSubnets(admin, { networkId }))
      await cloud.networks.deleteSubnet(admin, subnetId);
  });

  it('do not include internal interfaces, whose addresses do not change when a subnet is added', async () => {
    const networkId = await cloud.net(admin, '10.60.0.0/24');
    const { id } = await cloud.networks.createRouter(admin, { name: 'r' });
    const [subnet] = await cloud.networks.listSubnets(admin, { networkId });
    const routerInterface = await cloud.networks.addRouterInterface(admin, id, { subnetId: subnet!.id });
    await cloud.networks.createSubnet(admin, { networkId, cidr: '2001:db8:9::/64' });
    expect(addresses(await cloud.networks.getPort(admin, routerInterface.id))).toEqual(['10.60.0.1']);
  });
});
