import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedNetworks } from '../../src/network/builtin/embedded-networks.js';
import {
  ada,
  addresses,
  admin,
  bob,
  type NetworksUnderTest,
  networksUnderTest,
  newPortRequest,
  SHARED,
} from './networks-under-test.js';

describe.each(networksUnderTest)('ports of the embedded networks on $kind', ({ open }) => {
  let cloud: NetworksUnderTest;
  let store: NetworksUnderTest['store'];
  let networks: NetworksUnderTest['networks'];
  let net: NetworksUnderTest['net'];
  let port: NetworksUnderTest['port'];
  let changedServers: NetworksUnderTest['changedServers'];

  beforeAll(async () => {
    cloud = await open();
    ({ store, networks, net, port, changedServers } = cloud);
  });
  afterAll(() => cloud.close());

  it('are bound, with one address of each version and the default group', async () => {
    const want = newPortRequest(SHARED);
    const [created] = await networks.createPorts(ada, [want]);
    expect(created).toMatchObject({
      id: want.key,
      networkId: SHARED,
      networkName: 'private',
      projectId: 'p-ada',
      deviceId: want.deviceId,
      deviceOwner: 'compute:nova',
      hostId: 'host1',
      status: 'ACTIVE',
      securityGroups: [{ name: 'default' }],
    });
    expect(created!.mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    expect(created!.fixedIps).toMatchObject([
      { address: expect.stringMatching(/^10\.1\./), version: 4, floating: [] },
      { address: expect.stringMatching(/^fd00:1::/), version: 6, floating: [] },
    ]);
    expect(await networks.getPort(ada, want.key)).toEqual(created);
    expect(await networks.listPorts(ada, { deviceIds: [want.deviceId] })).toEqual([created]);
  });

  it('are created once by repeated creations, even by concurrent ones', async () => {
    const want = newPortRequest(SHARED);
    const created = await Promise.all([1, 2, 3, 4].map(() => networks.createPorts(ada, [want])));
    expect(new Set(created.map(([one]) => one!.seq)).size).toBe(1);
    expect(new Set(created.map(([one]) => addresses(one!).join())).size).toBe(1);
  });

  it('never get the same address, for any number of concurrent servers', async () => {
    const id = await net(ada, '10.9.0.0/25');
    const created = await Promise.all(Array.from({ length: 100 }, () => port(id)));
    expect(new Set(created.flatMap(addresses)).size).toBe(100);
  });

  it('never get the same address from several processes', async () => {
    const id = await net(ada, '10.10.0.0/25');
    const processes = [embeddedNetworks({ store }), embeddedNetworks({ store }), networks];
    const created = await Promise.all(
      Array.from({ length: 125 }, (_, i) =>
        processes[i % 3]!.createPorts(ada, [newPortRequest(id)]).then(([one]) => one!),
      ),
    );
    expect(new Set(created.flatMap(addresses)).size).toBe(125);
    await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
    // Each deadlock would delay its transactions by a second.
    if (store.kind === 'postgres') {
      const { rows } =
        await sql`select deadlocks::int from pg_stat_database where datname = current_database()`.execute(store.db);
      expect(rows).toEqual([{ deadlocks: 0 }]);
    }
  });

  it('use all free addresses, are rejected if none is left, and reuse released addresses', async () => {
    const id = await net(ada, '10.8.0.0/29');
    const created = [];
    for (let i = 0; i < 5; i++) created.push(await port(id));
    expect(created.flatMap(addresses).sort()).toEqual(['10.8.0.2', '10.8.0.3', '10.8.0.4', '10.8.0.5', '10.8.0.6']);
    await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS', kind: 'conflict' });
    await expect(networks.checkAddresses(ada, id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
    const [, second] = created;
    await networks.releasePorts(ada, second!.deviceId, { owned: [second!.id], bound: [] });
    await networks.checkAddresses(ada, id);
    expect(addresses(await port(id))).toEqual(addresses(second!));
  });

  it('skip addresses that other ports have requested', async () => {
    const id = await net(ada, '10.7.0.0/24');
    await port(id, { addresses: ['10.7.0.3'] });
    expect(addresses(await port(id))).toEqual(['10.7.0.2']);
    expect(addresses(await port(id))).toEqual(['10.7.0.4']);
  });

  it('get a requested address only once: all but one of many concurrent requests are rejected', async () => {
    const id = await net(ada, '10.6.0.0/24');
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => port(id, { addresses: ['10.6.0.77'] })));
    const rejected = tries.filter((result) => result.status === 'rejected');
    expect(rejected).toHaveLength(9);
    for (const { reason } of rejected) expect(reason).toMatchObject({ code: 'ADDRESS_IN_USE', status: 409 });
  });

  it('are rejected with an address outside the network, and on a network without a subnet', async () => {
    const id = await net(ada, '10.5.0.0/24');
    for (const address of ['10.4.0.1', '10.5.0.0', '10.5.0.255', 'fd00::1', 'nonsense'])
      await expect(port(id, { addresses: [address] })).rejects.toMatchObject({
        code: 'ADDRESS_NOT_IN_SUBNET',
        status: 400,
      });
    await port(id, { addresses: ['10.5.0.9'] });
    await expect(networks.checkAddresses(ada, id, ['10.5.0.9'])).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await networks.checkAddresses(ada, id, ['10.5.0.10']);
    const bare = await net(ada);
    await expect(networks.checkAddresses(ada, bare)).rejects.toMatchObject({ code: 'NETWORK_WITHOUT_SUBNET' });
  });

  it('are all created for a server, or none', async () => {
    const one = await net(ada, '10.3.0.0/24');
    const deviceId = randomUUID();
    const both = [newPortRequest(one, { deviceId }), newPortRequest(SHARED, { deviceId, addresses: ['192.0.2.1'] })];
    await expect(networks.createPorts(ada, both)).rejects.toMatchObject({ code: 'ADDRESS_NOT_IN_SUBNET' });
    expect(await networks.listPorts(ada, { deviceIds: [deviceId] })).toEqual([]);
  });

  it('keep the requested order when a server has several networks', async () => {
    const ids = [await net(ada, '10.20.0.0/24'), await net(ada, '10.21.0.0/24'), SHARED];
    const created = await networks.createPorts(
      ada,
      ids.map((id) => newPortRequest(id)),
    );
    expect(created.map((one) => one.networkId)).toEqual(ids);
  });

  it('of other projects are hidden, and so are their networks', async () => {
    const id = await net(bob, '10.2.0.0/24');
    await expect(port(id)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND', status: 404 });
    await expect(networks.getNetwork(ada, id)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND' });
    const otherPort = await port(id, { projectId: 'p-bob' }, bob);
    await expect(networks.getPort(ada, otherPort.id)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
    expect((await networks.listPorts(ada, {})).map((one) => one.id)).not.toContain(otherPort.id);
    expect(await networks.getPort(admin, otherPort.id)).toMatchObject({ id: otherPort.id });
  });

  it('are bound to one server only; a repeated binding succeeds', async () => {
    const { id } = await networks.createPort(ada, { networkId: SHARED });
    const serverId = randomUUID();
    const binding = { deviceId: serverId, deviceOwner: 'compute:nova', hostId: 'h1' };
    expect(await networks.bindPort(ada, id, binding)).toMatchObject({ ...binding, status: 'ACTIVE' });
    await networks.bindPort(ada, id, binding);
    await expect(networks.bindPort(ada, id, { ...binding, deviceId: randomUUID() })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      status: 409,
    });
    await expect(networks.bindPort(bob, id, binding)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
  });

  it('are deleted if they were created for the server, and otherwise unbound; missing ones are skipped', async () => {
    const deviceId = randomUUID();
    const own = await port(SHARED, { deviceId });
    const { id } = await networks.createPort(ada, { networkId: SHARED });
    await networks.bindPort(ada, id, { deviceId, deviceOwner: 'compute:nova', hostId: 'h1' });
    const foreign = await port(SHARED);
    const released = { owned: [own.id, randomUUID(), foreign.id], bound: [id] };
    await networks.releasePorts(ada, deviceId, released);
    await networks.releasePorts(ada, deviceId, released);
    await expect(networks.getPort(ada, own.id)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
    expect(await networks.getPort(ada, id)).toMatchObject({
      deviceId: '',
      deviceOwner: '',
      hostId: '',
      status: 'DOWN',
    });
    expect(await networks.getPort(ada, foreign.id)).toMatchObject({ deviceId: foreign.deviceId });
  });

  it('all move to another host, or to none', async () => {
    const deviceId = randomUUID();
    await networks.createPorts(ada, [newPortRequest(SHARED, { deviceId }), newPortRequest(SHARED, { deviceId })]);
    await networks.movePorts(ada, deviceId, 'host2');
    const hosts = async () => (await networks.listPorts(ada, { deviceIds: [deviceId] })).map((one) => one.hostId);
    expect(await hosts()).toEqual(['host2', 'host2']);
    await networks.movePorts(ada, deviceId, '');
    expect(await networks.listPorts(ada, { deviceIds: [deviceId] })).toMatchObject([
      { status: 'DOWN' },
      { status: 'DOWN' },
    ]);
  });

  it('can get an additional address, and release one', async () => {
    const id = await net(ada, '10.30.0.0/24');
    const { deviceId } = await port(id);
    expect(addresses(await networks.addFixedIp(ada, deviceId, id))).toEqual(['10.30.0.2', '10.30.0.3']);
    expect(addresses(await networks.removeFixedIp(ada, deviceId, '10.30.0.2'))).toEqual(['10.30.0.3']);
    await expect(networks.removeFixedIp(ada, deviceId, '10.30.0.2')).rejects.toMatchObject({
      code: 'ADDRESS_NOT_FOUND',
    });
    await expect(networks.addFixedIp(ada, deviceId, SHARED)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
    expect(addresses(await port(id, { addresses: ['10.30.0.2'] }))).toEqual(['10.30.0.2']);
  });

  it('can change addresses and groups, which is reported with their server', async () => {
    const id = await net(ada, '10.31.0.0/24');
    const created = await port(id);
    const group = await networks.createSecurityGroup(ada, { name: 'web' });
    const changed = await networks.updatePort(ada, created.id, {
      name: 'eth0',
      fixedIps: [{ address: '10.31.0.2' }, { address: '10.31.0.50' }],
      securityGroups: [group.id],
    });
    expect(changed).toMatchObject({ name: 'eth0', securityGroups: [{ id: group.id, name: 'web' }] });
    expect(addresses(changed)).toEqual(['10.31.0.2', '10.31.0.50']);
    expect(changedServers).toContain(created.deviceId);
    await networks.updatePort(ada, created.id, { fixedIps: [] });
    expect(addresses(await port(id, { addresses: ['10.31.0.50'] }))).toEqual(['10.31.0.50']);
  });

  it('are found by address, subnet and group', async () => {
    const id = await net(ada, '10.32.0.0/24');
    const created = await port(id);
    const found = async (query: object) => (await networks.listPorts(ada, query)).map((one) => one.id);
    const groupId = created.securityGroups[0]!.id;
    expect(await found({ address: '10.32.0.2' })).toEqual([created.id]);
    expect(await found({ subnetId: created.fixedIps[0]!.subnetId })).toEqual([created.id]);
    expect(await found({ networkId: id, securityGroupId: groupId })).toEqual([created.id]);
    expect(await found({ networkId: id, status: 'DOWN' })).toEqual([]);
  });

  it('are rejected with a MAC address that is in use on the network', async () => {
    const id = await net(ada, '10.33.0.0/24');
    const mac = 'FA:16:3E:00:00:01';
    expect(await port(id, { mac })).toMatchObject({ mac: 'fa:16:3e:00:00:01' });
    await expect(port(id, { mac })).rejects.toMatchObject({ code: 'MAC_IN_USE', status: 409 });
    await port(SHARED, { mac });
  });
});
