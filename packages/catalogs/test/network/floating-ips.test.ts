import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ada,
  addresses,
  bob,
  type NetworksUnderTest,
  networksUnderTest,
  PUBLIC,
  SHARED,
} from './networks-under-test.js';

describe.each(networksUnderTest)('floating IPs of the embedded networks on $kind', ({ open }) => {
  let cloud: NetworksUnderTest;
  let networks: NetworksUnderTest['networks'];
  let port: NetworksUnderTest['port'];
  let changedServers: NetworksUnderTest['changedServers'];

  beforeAll(async () => {
    cloud = await open();
    ({ networks, port, changedServers } = cloud);
  });
  afterAll(() => cloud.close());

  it('are associated with a server, shown on its port, and disassociated', async () => {
    const created = await port(SHARED);
    const floating = await networks.allocateFloatingIp(ada, 'public');
    expect(floating).toMatchObject({ pool: 'public', portId: null, status: 'DOWN', projectId: 'p-ada' });
    const associated = await networks.associateFloatingIp(ada, floating.id, { portId: created.id });
    expect(associated).toMatchObject({
      portId: created.id,
      deviceId: created.deviceId,
      fixedAddress: addresses(created)[0],
      status: 'ACTIVE',
    });
    expect(changedServers).toContain(created.deviceId);
    const [v4, v6] = (await networks.getPort(ada, created.id)).fixedIps;
    expect(v4!.floating).toEqual([floating.address]);
    expect(v6!.floating).toEqual([]);
    expect(await networks.disassociateFloatingIp(ada, floating.id)).toMatchObject({ portId: null, deviceId: null });
    expect((await networks.getPort(ada, created.id)).fixedIps[0]!.floating).toEqual([]);
    await networks.releaseFloatingIp(ada, floating.id);
    await expect(networks.getFloatingIp(ada, floating.id)).rejects.toMatchObject({ code: 'FLOATING_IP_NOT_FOUND' });
  });

  it('move from one server to another', async () => {
    const [one, two] = [await port(SHARED), await port(SHARED)];
    const { id, address } = await networks.allocateFloatingIp(ada);
    await networks.associateFloatingIp(ada, id, { portId: one.id });
    await networks.associateFloatingIp(ada, id, { portId: two.id });
    expect((await networks.getPort(ada, one.id)).fixedIps[0]!.floating).toEqual([]);
    expect((await networks.getPort(ada, two.id)).fixedIps[0]!.floating).toEqual([address]);
  });

  it('release their addresses when they are deleted, as routers do', async () => {
    const address = '203.0.113.200';
    const floating = await networks.createFloatingIp(ada, { pool: PUBLIC, address });
    const duplicate = networks.createFloatingIp(bob, { pool: PUBLIC, address });
    await expect(duplicate).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await networks.releaseFloatingIp(ada, floating.id);
    const router = await networks.createRouter(ada, { externalNetworkId: PUBLIC });
    const outside = router.externalAddresses[0]!.address;
    await networks.updateRouter(ada, router.id, { externalNetworkId: null });
    for (const free of [address, outside])
      expect(await networks.createFloatingIp(bob, { pool: PUBLIC, address: free })).toMatchObject({ address: free });
  });

  it('are disassociated when the port is deleted', async () => {
    const created = await port(SHARED);
    const { id, address } = await networks.allocateFloatingIp(ada);
    await networks.associateFloatingIp(ada, id, { portId: created.id });
    await networks.releasePorts(ada, created.deviceId, { owned: [created.id], bound: [] });
    expect(await networks.listFloatingIps(ada, { address })).toMatchObject([{ id, portId: null, status: 'DOWN' }]);
  });

  it('are rejected for a fixed address that already has one, an unknown pool, and a port of another project', async () => {
    const created = await port(SHARED);
    const [one, two] = [await networks.allocateFloatingIp(ada), await networks.allocateFloatingIp(ada)];
    await networks.associateFloatingIp(ada, one.id, { portId: created.id });
    const again = networks.associateFloatingIp(ada, two.id, { portId: created.id });
    await expect(again).rejects.toMatchObject({ code: 'FLOATING_IP_IN_USE', status: 409 });
    await expect(networks.allocateFloatingIp(ada, 'nowhere')).rejects.toMatchObject({
      code: 'FLOATING_IP_POOL_NOT_FOUND',
    });
    await expect(networks.getFloatingIp(bob, one.id)).rejects.toMatchObject({ code: 'FLOATING_IP_NOT_FOUND' });
    const wrong = networks.associateFloatingIp(ada, two.id, { portId: created.id, fixedAddress: '192.0.2.7' });
    await expect(wrong).rejects.toMatchObject({ code: 'FLOATING_IP_UNREACHABLE' });
    expect((await networks.listFloatingIpPools(ada)).map((pool) => pool.name)).toEqual(['public']);
  });
});
