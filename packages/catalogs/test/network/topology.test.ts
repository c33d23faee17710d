import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ada,
  addresses,
  admin,
  member,
  type NetworksUnderTest,
  networkPreset,
  networksUnderTest,
  PUBLIC,
  SHARED,
} from './networks-under-test.js';

describe.each(networksUnderTest)('embedded networks on $kind', ({ open }) => {
  let cloud: NetworksUnderTest;
  let networks: NetworksUnderTest['networks'];
  let net: NetworksUnderTest['net'];
  let port: NetworksUnderTest['port'];

  beforeAll(async () => {
    cloud = await open();
    ({ networks, net, port } = cloud);
  });
  afterAll(() => cloud.close());

  it('are available to a project if they are its own or shared, but not external', async () => {
    const carl = member('carl');
    const own = await net(carl);
    await net(member('dora'));
    expect((await networks.availableNetworks(carl)).map((network) => network.id)).toEqual([SHARED, own]);
    expect((await networks.listNetworks(carl)).map((network) => network.id)).toEqual([SHARED, PUBLIC, own]);
  });

  it('of the preset keep their changes when the preset is seeded again', async () => {
    await networks.updateNetwork(admin, SHARED, { description: 'kept' });
    await networks.seed(networkPreset);
    const network = await networks.getNetwork(ada, SHARED);
    expect(network).toMatchObject({ description: 'kept', shared: true, external: false });
    expect(network.subnetIds).toHaveLength(2);
  });

  it('include one automatic network per project, for any number of concurrent servers', async () => {
    const erin = member('erin');
    expect(await networks.autoNetwork(erin, { dryRun: true })).toBeNull();
    const created = await Promise.all([1, 2, 3, 4].map(() => networks.autoNetwork(erin)));
    const [first] = created;
    expect(new Set(created.map((network) => network!.seq)).size).toBe(1);
    expect(await networks.autoNetwork(erin, { dryRun: true })).toEqual(first);
    expect((await networks.listNetworks(erin, { projectId: erin.projectId })).length).toBe(1);
  });

  it('are not deleted while they have ports, nor are subnets; subnets are deleted with their network', async () => {
    const id = await net(ada, '10.40.0.0/24');
    const { deviceId, id: portId } = await port(id);
    const [subnet] = await networks.listSubnets(ada, { networkId: id });
    await expect(networks.deleteNetwork(ada, id)).rejects.toMatchObject({ code: 'NETWORK_IN_USE', status: 409 });
    await expect(networks.deleteSubnet(ada, subnet!.id)).rejects.toMatchObject({
      code: 'SUBNET_IN_USE',
      status: 409,
    });
    await networks.releasePorts(ada, deviceId, { owned: [portId], bound: [] });
    await networks.deleteNetwork(ada, id);
    await expect(networks.getSubnet(ada, subnet!.id)).rejects.toMatchObject({ code: 'SUBNET_NOT_FOUND' });
  });

  it('reject overlapping subnets, and gateways or pools outside the subnet', async () => {
    const id = await net(ada, '10.42.0.0/24');
    const rejected = { code: 'SUBNET_INVALID', status: 400 };
    for (const wrong of [
      { cidr: '10.42.0.128/25' },
      { cidr: 'nonsense' },
      { cidr: '10.43.0.0/24', gatewayIp: 'fd00::1' },
      { cidr: '10.43.0.0/24', allocationPools: [{ start: '10.44.0.1', end: '10.44.0.9' }] },
      { cidr: '10.43.0.0/24', allocationPools: [{ start: '10.43.0.9', end: '10.43.0.1' }] },
    ])
      await expect(networks.createSubnet(ada, { networkId: id, ...wrong })).rejects.toMatchObject(rejected);
  });

  it('allocate only from the pools of a subnet', async () => {
    const id = await net(ada);
    const allocationPools = [
      { start: '10.45.0.10', end: '10.45.0.11' },
      { start: '10.45.0.20', end: '10.45.0.20' },
    ];
    await networks.createSubnet(ada, { networkId: id, cidr: '10.45.0.0/24', allocationPools });
    const created = [await port(id), await port(id), await port(id)];
    expect(created.flatMap(addresses)).toEqual(['10.45.0.10', '10.45.0.11', '10.45.0.20']);
    await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
  });

  it('are connected by a router at the gateway of a subnet, and to external networks', async () => {
    const id = await net(ada, '10.46.0.0/24');
    const [subnet] = await networks.listSubnets(ada, { networkId: id });
    const router = await networks.createRouter(ada, { name: 'r', externalNetworkId: PUBLIC });
    expect(router.externalAddresses).toMatchObject([{ address: expect.stringMatching(/^203\.0\.113\./) }]);
    const created = await networks.addRouterInterface(ada, router.id, { subnetId: subnet!.id });
    expect(addresses(created)).toEqual(['10.46.0.1']);
    await expect(networks.deleteRouter(ada, router.id)).rejects.toMatchObject({ code: 'ROUTER_IN_USE' });
    await expect(networks.deletePort(ada, created.id)).rejects.toMatchObject({ code: 'PORT_OF_SERVICE' });
    await networks.removeRouterInterface(ada, router.id, { subnetId: subnet!.id });
    await networks.deleteRouter(ada, router.id);
    await expect(networks.getRouter(ada, router.id)).rejects.toMatchObject({ code: 'ROUTER_NOT_FOUND' });
  });
});
