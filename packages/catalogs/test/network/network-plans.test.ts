import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  ada,
  addresses,
  admin,
  bob,
  networksUnderTest,
  PUBLIC,
  SHARED,
  sharedNetworks,
} from './networks-under-test.js';

describe.each(networksUnderTest)('the network plan of the embedded networks on $kind', ({ open }) => {
  const cloud = sharedNetworks(open);

  const subnetOf = async (networkId: string) => (await cloud.networks.getNetwork(admin, networkId)).subnetIds[0]!;

  it('is empty without servers, or without ports of servers', async () => {
    const nothing = { networks: [], ports: [], routers: [], rules: [], members: {} };
    expect(await cloud.networks.networkPlan([])).toEqual(nothing);
    expect(await cloud.networks.networkPlan([randomUUID()])).toEqual(nothing);
  });

  it('contains the requested servers, and no others', async () => {
    const [own, other] = [await cloud.port(SHARED), await cloud.port(SHARED, {}, bob)];
    const plan = await cloud.networks.networkPlan([own.deviceId]);
    expect(plan.ports).toMatchObject([
      {
        id: own.id,
        serverId: own.deviceId,
        mac: own.mac,
        portSecurityEnabled: true,
        securityGroupIds: own.securityGroups.map(({ id }) => id),
      },
    ]);
    expect(plan.ports[0]!.addresses.map(({ address }) => address)).toEqual(addresses(own));
    expect(plan.networks.map(({ id, subnets }) => [id, subnets.map(({ cidr }) => cidr)])).toEqual([
      [SHARED, ['10.1.0.0/22', 'fd00:1::/64']],
    ]);
    expect(plan.rules.map(({ direction }) => direction).sort()).toEqual(['egress', 'egress', 'ingress', 'ingress']);
    expect((await cloud.networks.networkPlan([own.deviceId, other.deviceId])).ports).toHaveLength(2);
  });

  it('has an implicit router for shared networks until a router is created', async () => {
    const port = await cloud.port(SHARED);
    const floating = await cloud.networks.allocateFloatingIp(ada, 'public');
    await cloud.networks.associateFloatingIp(ada, floating.id, { portId: port.id });
    const leading = [{ address: floating.address, fixedAddress: addresses(port)[0] }];
    const routers = async () => (await cloud.networks.networkPlan([port.deviceId])).routers;
    expect(await routers()).toMatchObject([{ id: SHARED, external: true, enableSnat: true, floating: leading }]);
    expect((await routers())[0]!.interfaces[0]!.addresses[0]).toMatchObject({ address: '10.1.0.1' });

    const router = await cloud.networks.createRouter(admin, { name: 'r', externalNetworkId: PUBLIC });
    const subnetId = await subnetOf(SHARED);
    const routerInterface = await cloud.networks.addRouterInterface(admin, router.id, { subnetId });
    expect(await routers()).toMatchObject([
      {
        id: router.id,
        external: true,
        floating: leading,
        interfaces: [{ id: routerInterface.id, mac: routerInterface.mac }],
      },
    ]);
    expect((await routers())[0]!.externalAddresses).toEqual(router.externalAddresses.map(({ address }) => address));
    await expect(cloud.networks.updateRouter(admin, router.id, { externalNetworkId: null })).rejects.toMatchObject({
      code: 'ROUTER_GATEWAY_IN_USE',
    });
    await cloud.networks.disassociateFloatingIp(ada, floating.id);
    // A router without a gateway does not have external addresses or floating IPs.
    await cloud.networks.updateRouter(admin, router.id, { externalNetworkId: null });
    expect(await routers()).toMatchObject([{ external: false, externalAddresses: [], floating: [] }]);
    await cloud.networks.removeRouterInterface(admin, router.id, { subnetId });
    await cloud.networks.deleteRouter(admin, router.id);
  });

  it('has no implicit router for a network of a project', async () => {
    const port = await cloud.port(await cloud.net(ada, '10.9.0.0/24'));
    expect((await cloud.networks.networkPlan([port.deviceId])).routers).toEqual([]);
  });

  it('notifies of changes after the commit, until the listener unsubscribes', async () => {
    const port = await cloud.port(SHARED);
    const [group] = port.securityGroups;
    const notifiedRuleCounts: number[] = [];
    const reads: Promise<unknown>[] = [];
    const silence = cloud.networks.onNetworkChange(() => {
      reads.push(
        cloud.networks.networkPlan([port.deviceId]).then(({ rules }) => notifiedRuleCounts.push(rules.length)),
      );
    });
    const rule = await cloud.networks.createSecurityGroupRule(ada, {
      securityGroupId: group!.id,
      direction: 'ingress',
      protocol: 'tcp',
      portMin: 22,
      portMax: 22,
    });
    await cloud.networks.deleteSecurityGroupRule(ada, rule.id).then(() => Promise.all(reads));
    expect(notifiedRuleCounts.length).toBe(2);
    expect(notifiedRuleCounts.at(-1)).toBe(4);
    silence();
    await cloud.networks.releasePorts(ada, port.deviceId, { owned: [port.id], bound: [] });
    expect(reads).toHaveLength(2);
  });
});
