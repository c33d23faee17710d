import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { storesUnderTest } from '../../../test/stores-under-test.js';
import type { Caller } from '../../model/caller.js';
import type { Store } from '../../store/store.js';
import type { NewPort } from './catalog.js';
import { type EmbeddedNetworkCatalog, embeddedNetworks } from './embedded-networks.js';

const member = (name: string): Caller => ({ userId: name, projectId: `p-${name}`, roles: ['member', 'reader'] });
const ada = member('ada');
const bob = member('bob');
const admin: Caller = { userId: 'root', projectId: 'p-root', roles: ['admin'] };
const SHARED = '22222222-2222-4222-8222-222222222222';
const PUBLIC = '33333333-3333-4333-8333-333333333333';

describe.each(storesUnderTest(inject('postgresUrl')))('embedded networks on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  let networks: EmbeddedNetworkCatalog;
  const changedServers: string[] = [];
  const preset = {
    networks: [
      { id: SHARED, name: 'private', subnets: [{ cidr: '10.1.0.0/22' }, { cidr: 'fd00:1::/64' }] },
      { id: PUBLIC, name: 'public', external: true, subnets: [{ cidr: '203.0.113.0/24' }] },
    ],
  };

  beforeAll(async () => {
    ({ store, close } = await open());
    networks = embeddedNetworks({ store, onServerPortsChanged: (serverId) => changedServers.push(serverId) });
    await networks.seed(preset);
  });
  afterAll(() => close());

  /** A network of its own, so that no other test takes its addresses. */
  async function net(caller: Caller, ...cidrs: string[]): Promise<string> {
    const { id } = await networks.createNetwork(caller, { name: 'own' });
    for (const cidr of cidrs) await networks.createSubnet(caller, { networkId: id, cidr });
    return id;
  }

  function wanted(networkId: string, more: Partial<NewPort> = {}): NewPort {
    const place = { deviceId: randomUUID(), deviceOwner: 'compute:nova', hostId: 'host1' };
    return { key: randomUUID(), networkId, projectId: 'p-ada', ...place, ...more };
  }

  const port = async (networkId: string, more: Partial<NewPort> = {}, caller = ada) =>
    (await networks.createPorts(caller, [wanted(networkId, more)]))[0]!;

  const addresses = (made: { readonly fixedIps: readonly { readonly address: string }[] }) =>
    made.fixedIps.map((fixedIp) => fixedIp.address);

  describe('ports', () => {
    it('gives a server a bound port with one address of each version and the default group', async () => {
      const want = wanted(SHARED);
      const [made] = await networks.createPorts(ada, [want]);
      expect(made).toMatchObject({
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
      expect(made!.mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
      expect(made!.fixedIps).toMatchObject([
        { address: expect.stringMatching(/^10\.1\./), version: 4, floating: [] },
        { address: expect.stringMatching(/^fd00:1::/), version: 6, floating: [] },
      ]);
      expect(await networks.getPort(ada, want.key)).toEqual(made);
      expect(await networks.listPorts(ada, { deviceIds: [want.deviceId] })).toEqual([made]);
    });

    it('makes one port of the same wish made twice, also at once', async () => {
      const want = wanted(SHARED);
      const made = await Promise.all([1, 2, 3, 4].map(() => networks.createPorts(ada, [want])));
      expect(new Set(made.map(([one]) => one!.seq)).size).toBe(1);
      expect(new Set(made.map(([one]) => addresses(one!).join())).size).toBe(1);
    });

    it('never gives an address twice, however many servers come at once', async () => {
      const id = await net(ada, '10.9.0.0/25');
      const made = await Promise.all(Array.from({ length: 100 }, () => port(id)));
      expect(new Set(made.flatMap(addresses)).size).toBe(100);
    });

    it('never gives an address twice when several processes give them out', async () => {
      const id = await net(ada, '10.10.0.0/25');
      const processes = [embeddedNetworks({ store }), embeddedNetworks({ store }), networks];
      const made = await Promise.all(
        Array.from({ length: 125 }, (_, i) => processes[i % 3]!.createPorts(ada, [wanted(id)]).then(([one]) => one!)),
      );
      expect(new Set(made.flatMap(addresses)).size).toBe(125);
      await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
    });

    it('hands out the last address, then says that there is none, and takes up addresses given back', async () => {
      const id = await net(ada, '10.8.0.0/29');
      const made = [];
      for (let i = 0; i < 5; i++) made.push(await port(id));
      expect(made.flatMap(addresses).sort()).toEqual(['10.8.0.2', '10.8.0.3', '10.8.0.4', '10.8.0.5', '10.8.0.6']);
      await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS', kind: 'conflict' });
      await expect(networks.checkAddresses(ada, id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
      const [, second] = made;
      await networks.releasePorts(ada, second!.deviceId, { owned: [second!.id], bound: [] });
      await networks.checkAddresses(ada, id);
      expect(addresses(await port(id))).toEqual(addresses(second!));
    });

    it('passes over addresses that somebody has chosen', async () => {
      const id = await net(ada, '10.7.0.0/24');
      await port(id, { addresses: ['10.7.0.3'] });
      expect(addresses(await port(id))).toEqual(['10.7.0.2']);
      expect(addresses(await port(id))).toEqual(['10.7.0.4']);
    });

    it('gives one chosen address to exactly one of many', async () => {
      const id = await net(ada, '10.6.0.0/24');
      const tries = await Promise.allSettled(Array.from({ length: 10 }, () => port(id, { addresses: ['10.6.0.77'] })));
      const refused = tries.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(9);
      for (const { reason } of refused) expect(reason).toMatchObject({ code: 'ADDRESS_IN_USE', status: 409 });
    });

    it('refuses an address outside the network, and a network without a subnet for a server', async () => {
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

    it('makes all ports of a server or none', async () => {
      const one = await net(ada, '10.3.0.0/24');
      const deviceId = randomUUID();
      const both = [wanted(one, { deviceId }), wanted(SHARED, { deviceId, addresses: ['192.0.2.1'] })];
      await expect(networks.createPorts(ada, both)).rejects.toMatchObject({ code: 'ADDRESS_NOT_IN_SUBNET' });
      expect(await networks.listPorts(ada, { deviceIds: [deviceId] })).toEqual([]);
    });

    it('keeps the order asked for when a server has several networks', async () => {
      const ids = [await net(ada, '10.20.0.0/24'), await net(ada, '10.21.0.0/24'), SHARED];
      const made = await networks.createPorts(
        ada,
        ids.map((id) => wanted(id)),
      );
      expect(made.map((one) => one.networkId)).toEqual(ids);
    });

    it("hides other projects' networks and ports", async () => {
      const id = await net(bob, '10.2.0.0/24');
      await expect(port(id)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND', status: 404 });
      await expect(networks.getNetwork(ada, id)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND' });
      const theirs = await port(id, { projectId: 'p-bob' }, bob);
      await expect(networks.getPort(ada, theirs.id)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
      expect((await networks.listPorts(ada, {})).map((one) => one.id)).not.toContain(theirs.id);
      expect(await networks.getPort(admin, theirs.id)).toMatchObject({ id: theirs.id });
    });

    it('binds an existing port to one server only, and to the same one again', async () => {
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

    it('deletes ports made for the server and unbinds the others, passing over what is gone', async () => {
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

    it('moves all ports of a server to another host, or to none', async () => {
      const deviceId = randomUUID();
      await networks.createPorts(ada, [wanted(SHARED, { deviceId }), wanted(SHARED, { deviceId })]);
      await networks.movePorts(ada, deviceId, 'host2');
      const hosts = async () => (await networks.listPorts(ada, { deviceIds: [deviceId] })).map((one) => one.hostId);
      expect(await hosts()).toEqual(['host2', 'host2']);
      await networks.movePorts(ada, deviceId, '');
      expect(await networks.listPorts(ada, { deviceIds: [deviceId] })).toMatchObject([
        { status: 'DOWN' },
        { status: 'DOWN' },
      ]);
    });

    it('adds an address to a server and takes it away', async () => {
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

    it('exchanges addresses and groups of a port, and tells of its server', async () => {
      const id = await net(ada, '10.31.0.0/24');
      const made = await port(id);
      const group = await networks.createSecurityGroup(ada, { name: 'web' });
      const changed = await networks.updatePort(ada, made.id, {
        name: 'eth0',
        fixedIps: [{ address: '10.31.0.2' }, { address: '10.31.0.50' }],
        securityGroups: [group.id],
      });
      expect(changed).toMatchObject({ name: 'eth0', securityGroups: [{ id: group.id, name: 'web' }] });
      expect(addresses(changed)).toEqual(['10.31.0.2', '10.31.0.50']);
      expect(changedServers).toContain(made.deviceId);
      await networks.updatePort(ada, made.id, { fixedIps: [] });
      expect(addresses(await port(id, { addresses: ['10.31.0.50'] }))).toEqual(['10.31.0.50']);
    });

    it('finds ports by address, subnet and group', async () => {
      const id = await net(ada, '10.32.0.0/24');
      const made = await port(id);
      const found = async (query: object) => (await networks.listPorts(ada, query)).map((one) => one.id);
      const groupId = made.securityGroups[0]!.id;
      expect(await found({ address: '10.32.0.2' })).toEqual([made.id]);
      expect(await found({ subnetId: made.fixedIps[0]!.subnetId })).toEqual([made.id]);
      expect(await found({ networkId: id, securityGroupId: groupId })).toEqual([made.id]);
      expect(await found({ networkId: id, status: 'DOWN' })).toEqual([]);
    });

    it('refuses a hardware address that the network has already', async () => {
      const id = await net(ada, '10.33.0.0/24');
      const mac = 'FA:16:3E:00:00:01';
      expect(await port(id, { mac })).toMatchObject({ mac: 'fa:16:3e:00:00:01' });
      await expect(port(id, { mac })).rejects.toMatchObject({ code: 'MAC_IN_USE', status: 409 });
      await port(SHARED, { mac });
    });
  });

  describe('networks', () => {
    it('offers a project its own networks and shared ones, not external ones', async () => {
      const carl = member('carl');
      const own = await net(carl);
      await net(member('dora'));
      expect((await networks.availableNetworks(carl)).map((network) => network.id)).toEqual([SHARED, own]);
      expect((await networks.listNetworks(carl)).map((network) => network.id)).toEqual([SHARED, PUBLIC, own]);
    });

    it('leaves a network of the preset as it has become when the preset comes again', async () => {
      await networks.updateNetwork(admin, SHARED, { description: 'kept' });
      await networks.seed(preset);
      const network = await networks.getNetwork(ada, SHARED);
      expect(network).toMatchObject({ description: 'kept', shared: true, external: false });
      expect(network.subnetIds).toHaveLength(2);
    });

    it('makes one automatic network per project, however many servers ask at once', async () => {
      const erin = member('erin');
      expect(await networks.autoNetwork(erin, { dryRun: true })).toBeNull();
      const made = await Promise.all([1, 2, 3, 4].map(() => networks.autoNetwork(erin)));
      const [first] = made;
      expect(new Set(made.map((network) => network!.seq)).size).toBe(1);
      expect(await networks.autoNetwork(erin, { dryRun: true })).toEqual(first);
      expect((await networks.listNetworks(erin, { projectId: erin.projectId })).length).toBe(1);
    });

    it('does not delete a network or subnet with ports, and deletes subnets with their network', async () => {
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

    it('never leaves a port on a network that is deleted at the same time', async () => {
      const id = await net(ada, '10.41.0.0/24');
      const results = await Promise.allSettled([
        ...Array.from({ length: 8 }, () => port(id)),
        networks.deleteNetwork(ada, id),
        ...Array.from({ length: 8 }, () => port(id)),
      ]);
      const gone = results[8]!.status === 'fulfilled';
      const left = await networks.listPorts(admin, { networkId: id });
      if (gone) expect(left).toEqual([]);
      else expect(left).toHaveLength(results.filter((result) => result.status === 'fulfilled').length);
    });

    it('refuses overlapping subnets and gateways or pools that do not fit', async () => {
      const id = await net(ada, '10.42.0.0/24');
      const refused = { code: 'SUBNET_INVALID', status: 400 };
      for (const wrong of [
        { cidr: '10.42.0.128/25' },
        { cidr: 'nonsense' },
        { cidr: '10.43.0.0/24', gatewayIp: 'fd00::1' },
        { cidr: '10.43.0.0/24', allocationPools: [{ start: '10.44.0.1', end: '10.44.0.9' }] },
        { cidr: '10.43.0.0/24', allocationPools: [{ start: '10.43.0.9', end: '10.43.0.1' }] },
      ])
        await expect(networks.createSubnet(ada, { networkId: id, ...wrong })).rejects.toMatchObject(refused);
    });

    it('allocates only from the pools of a subnet', async () => {
      const id = await net(ada);
      const allocationPools = [
        { start: '10.45.0.10', end: '10.45.0.11' },
        { start: '10.45.0.20', end: '10.45.0.20' },
      ];
      await networks.createSubnet(ada, { networkId: id, cidr: '10.45.0.0/24', allocationPools });
      const made = [await port(id), await port(id), await port(id)];
      expect(made.flatMap(addresses)).toEqual(['10.45.0.10', '10.45.0.11', '10.45.0.20']);
      await expect(port(id)).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
    });

    it('connects a router to a subnet at its gateway, and to the outside', async () => {
      const id = await net(ada, '10.46.0.0/24');
      const [subnet] = await networks.listSubnets(ada, { networkId: id });
      const router = await networks.createRouter(ada, { name: 'r', externalNetworkId: PUBLIC });
      expect(router.externalAddresses).toMatchObject([{ address: expect.stringMatching(/^203\.0\.113\./) }]);
      const made = await networks.addRouterInterface(ada, router.id, { subnetId: subnet!.id });
      expect(addresses(made)).toEqual(['10.46.0.1']);
      await expect(networks.deleteRouter(ada, router.id)).rejects.toMatchObject({ code: 'ROUTER_IN_USE' });
      await expect(networks.deletePort(ada, made.id)).rejects.toMatchObject({ code: 'PORT_IN_USE' });
      await networks.removeRouterInterface(ada, router.id, { subnetId: subnet!.id });
      await networks.deleteRouter(ada, router.id);
      await expect(networks.getRouter(ada, router.id)).rejects.toMatchObject({ code: 'ROUTER_NOT_FOUND' });
    });
  });

  describe('security groups', () => {
    it('has a default group for every project, one and the same for everybody who looks at once', async () => {
      const fred = member('fred');
      const found = await Promise.all([1, 2, 3, 4].map(() => networks.resolveSecurityGroups(fred, ['default'])));
      expect(new Set(found.map(([group]) => group!.id)).size).toBe(1);
      const [group] = await networks.listSecurityGroups(fred);
      expect(group).toMatchObject({ name: 'default', projectId: 'p-fred' });
      expect(group!.rules.map((rule) => `${rule.direction} ${rule.ethertype}`).sort()).toEqual([
        'egress IPv4',
        'egress IPv6',
        'ingress IPv4',
        'ingress IPv6',
      ]);
      await expect(networks.deleteSecurityGroup(fred, group!.id)).rejects.toMatchObject({ status: 409 });
    });

    it('finds groups by name or id, and asks for the id where a name is ambiguous', async () => {
      const one = await networks.createSecurityGroup(ada, { name: 'twins' });
      await networks.createSecurityGroup(ada, { name: 'twins' });
      await expect(networks.resolveSecurityGroups(ada, ['twins'])).rejects.toMatchObject({
        code: 'SECURITY_GROUP_AMBIGUOUS',
        status: 409,
      });
      expect(await networks.resolveSecurityGroups(ada, [one.id])).toEqual([{ id: one.id, name: 'twins' }]);
      await expect(networks.resolveSecurityGroups(bob, [one.id])).rejects.toMatchObject({
        code: 'SECURITY_GROUP_NOT_FOUND',
      });
      await expect(port(SHARED, { securityGroups: ['nobody'] })).rejects.toMatchObject({
        code: 'SECURITY_GROUP_NOT_FOUND',
      });
    });

    it('adds a group to all ports of a server and removes it from them', async () => {
      const deviceId = randomUUID();
      await networks.createPorts(ada, [wanted(SHARED, { deviceId }), wanted(SHARED, { deviceId })]);
      const { id } = await networks.createSecurityGroup(ada, { name: 'extra' });
      await networks.addSecurityGroup(ada, deviceId, 'extra');
      await networks.addSecurityGroup(ada, deviceId, id);
      const names = async () =>
        (await networks.listPorts(ada, { deviceIds: [deviceId] })).map((one) => one.securityGroups.map((g) => g.name));
      expect(await names()).toEqual([
        ['default', 'extra'],
        ['default', 'extra'],
      ]);
      await expect(networks.deleteSecurityGroup(ada, id)).rejects.toMatchObject({ code: 'SECURITY_GROUP_IN_USE' });
      await networks.removeSecurityGroup(ada, deviceId, 'extra');
      await expect(networks.removeSecurityGroup(ada, deviceId, 'extra')).rejects.toMatchObject({
        code: 'SECURITY_GROUP_NOT_ASSOCIATED',
        status: 404,
      });
      await networks.deleteSecurityGroup(ada, id);
      expect(await names()).toEqual([['default'], ['default']]);
    });

    it('keeps rules, refuses the same one twice and ones that contradict themselves', async () => {
      const { id: securityGroupId } = await networks.createSecurityGroup(ada, { name: 'rules' });
      const ssh = {
        securityGroupId,
        direction: 'ingress',
        protocol: 'TCP',
        portMin: 22,
        portMax: 22,
        remoteCidr: '0.0.0.0/0',
      } as const;
      const rule = await networks.createSecurityGroupRule(ada, ssh);
      expect(rule).toMatchObject({ protocol: 'tcp', ethertype: 'IPv4', remoteCidr: '0.0.0.0/0' });
      await expect(networks.createSecurityGroupRule(ada, ssh)).rejects.toMatchObject({
        code: 'SECURITY_GROUP_RULE_EXISTS',
      });
      for (const wrong of [{ remoteCidr: 'x' }, { portMin: 23 }, { protocol: null }, { ethertype: 'IPv6' as const }])
        await expect(networks.createSecurityGroupRule(ada, { ...ssh, ...wrong })).rejects.toMatchObject({
          code: 'SECURITY_GROUP_RULE_INVALID',
        });
      await expect(networks.createSecurityGroupRule(bob, ssh)).rejects.toMatchObject({
        code: 'SECURITY_GROUP_NOT_FOUND',
      });
      await expect(networks.deleteSecurityGroupRule(bob, rule.id)).rejects.toMatchObject({ kind: 'not-found' });
      await networks.deleteSecurityGroupRule(ada, rule.id);
      expect((await networks.getSecurityGroup(ada, securityGroupId)).rules).toHaveLength(2);
    });
  });

  describe('floating addresses', () => {
    it('leads to a server, is seen on its port, and is free again afterwards', async () => {
      const made = await port(SHARED);
      const floating = await networks.allocateFloatingIp(ada, 'public');
      expect(floating).toMatchObject({ pool: 'public', portId: null, status: 'DOWN', projectId: 'p-ada' });
      const tied = await networks.associateFloatingIp(ada, floating.id, { portId: made.id });
      expect(tied).toMatchObject({
        portId: made.id,
        deviceId: made.deviceId,
        fixedAddress: addresses(made)[0],
        status: 'ACTIVE',
      });
      expect(changedServers).toContain(made.deviceId);
      const [v4, v6] = (await networks.getPort(ada, made.id)).fixedIps;
      expect(v4!.floating).toEqual([floating.address]);
      expect(v6!.floating).toEqual([]);
      expect(await networks.disassociateFloatingIp(ada, floating.id)).toMatchObject({ portId: null, deviceId: null });
      expect((await networks.getPort(ada, made.id)).fixedIps[0]!.floating).toEqual([]);
      await networks.releaseFloatingIp(ada, floating.id);
      await expect(networks.getFloatingIp(ada, floating.id)).rejects.toMatchObject({ code: 'FLOATING_IP_NOT_FOUND' });
    });

    it('moves from one server to another, leaving nothing behind', async () => {
      const [one, two] = [await port(SHARED), await port(SHARED)];
      const { id, address } = await networks.allocateFloatingIp(ada);
      await networks.associateFloatingIp(ada, id, { portId: one.id });
      await networks.associateFloatingIp(ada, id, { portId: two.id });
      expect((await networks.getPort(ada, one.id)).fixedIps[0]!.floating).toEqual([]);
      expect((await networks.getPort(ada, two.id)).fixedIps[0]!.floating).toEqual([address]);
    });

    it('gives its address back when it is released, as a router does', async () => {
      const address = '203.0.113.200';
      const floating = await networks.createFloatingIp(ada, { pool: PUBLIC, address });
      const taken = networks.createFloatingIp(bob, { pool: PUBLIC, address });
      await expect(taken).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
      await networks.releaseFloatingIp(ada, floating.id);
      const router = await networks.createRouter(ada, { externalNetworkId: PUBLIC });
      const outside = router.externalAddresses[0]!.address;
      await networks.updateRouter(ada, router.id, { externalNetworkId: null });
      for (const free of [address, outside])
        expect(await networks.createFloatingIp(bob, { pool: PUBLIC, address: free })).toMatchObject({ address: free });
    });

    it('is freed when the port goes', async () => {
      const made = await port(SHARED);
      const { id, address } = await networks.allocateFloatingIp(ada);
      await networks.associateFloatingIp(ada, id, { portId: made.id });
      await networks.releasePorts(ada, made.deviceId, { owned: [made.id], bound: [] });
      expect(await networks.listFloatingIps(ada, { address })).toMatchObject([{ id, portId: null, status: 'DOWN' }]);
    });

    it('refuses a second one for the same fixed address, unknown pools and foreign ports', async () => {
      const made = await port(SHARED);
      const [one, two] = [await networks.allocateFloatingIp(ada), await networks.allocateFloatingIp(ada)];
      await networks.associateFloatingIp(ada, one.id, { portId: made.id });
      const again = networks.associateFloatingIp(ada, two.id, { portId: made.id });
      await expect(again).rejects.toMatchObject({ code: 'FLOATING_IP_IN_USE', status: 409 });
      await expect(networks.allocateFloatingIp(ada, 'nowhere')).rejects.toMatchObject({
        code: 'FLOATING_IP_POOL_NOT_FOUND',
      });
      await expect(networks.getFloatingIp(bob, one.id)).rejects.toMatchObject({ code: 'FLOATING_IP_NOT_FOUND' });
      const wrong = networks.associateFloatingIp(ada, two.id, { portId: made.id, fixedAddress: '192.0.2.7' });
      await expect(wrong).rejects.toMatchObject({ code: 'FLOATING_IP_UNREACHABLE' });
      expect((await networks.listFloatingIpPools(ada)).map((pool) => pool.name)).toEqual(['public']);
    });
  });

  describe('where unknown ids are accepted', () => {
    let accepting: EmbeddedNetworkCatalog;
    beforeAll(() => {
      accepting = embeddedNetworks({ store, unknown: 'accept' });
    });

    it('takes an unknown network for one with room, and remembers it', async () => {
      const id = randomUUID();
      const made = await Promise.all(
        Array.from({ length: 6 }, () => accepting.createPorts(ada, [wanted(id)]).then(([one]) => one!)),
      );
      expect(new Set(made.flatMap(addresses)).size).toBe(6);
      expect(await networks.getNetwork(bob, id)).toMatchObject({ id, shared: true });
    });

    it('takes unknown ports and groups for existing ones', async () => {
      const id = randomUUID();
      expect(await accepting.getPort(ada, id)).toMatchObject({ id, deviceId: '', projectId: 'p-ada', status: 'DOWN' });
      expect(await networks.getPort(ada, id)).toMatchObject({ id });
      expect(await accepting.resolveSecurityGroups(ada, ['never-seen'])).toMatchObject([{ name: 'never-seen' }]);
      expect(await networks.resolveSecurityGroups(ada, ['never-seen'])).toMatchObject([{ name: 'never-seen' }]);
    });
  });
});
