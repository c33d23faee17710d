import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { describe, expect, it } from 'vitest';
import { lockWithoutWaiting, waitForLockWaits } from '../../../../testing/row-locks.js';
import { networkTables } from '../../src/network/builtin/network-tables.js';
import { ada, addresses, admin, networksUnderTest, SHARED, sharedNetworks } from './networks-under-test.js';

const { floatingIps, networks: networkTable, ports, securityGroups } = networkTables;
const slaac = { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' } as const;
const rule = { direction: 'ingress' } as const;

describe.each(networksUnderTest)('the lock order of the embedded networks on $kind', ({ kind, open }) => {
  const cloud = sharedNetworks(open);
  // SQLite executes one transaction at a time.
  const test = it.runIf(kind === 'PostgreSQL');

  /**
   * Starts a request while a transaction holds the locks that `lock` acquires. Then, while the request waits, continues
   * the transaction with `proceed`. Returns the outcome of the request.
   */
  async function runDuring<T>(
    lock: (tx: Tx) => Promise<unknown>,
    request: () => Promise<T>,
    proceed: (tx: Tx) => Promise<unknown>,
  ): Promise<PromiseSettledResult<T>> {
    let settled: Promise<readonly PromiseSettledResult<T>[]> | undefined;
    await cloud.store.transaction(async (tx) => {
      await lock(tx);
      settled ??= Promise.allSettled([request()]);
      await waitForLockWaits(cloud.store);
      await proceed(tx);
    });
    return (await settled)![0] as PromiseSettledResult<T>;
  }

  const createFloatingIp = async () => {
    const { networks } = cloud;
    const external = await networks.createNetwork(admin, { external: true });
    await networks.createSubnet(admin, { networkId: external.id, cidr: '198.51.100.0/24' });
    return networks.allocateFloatingIp(ada, external.id);
  };

  test('a deleted network: each floating IP before its address', async () => {
    const { id, address, networkId } = await createFloatingIp();
    const deletion = await runDuring(
      (tx) => floatingIps.lock(tx, id),
      () => cloud.networks.deleteNetwork(admin, networkId),
      (tx) => lockWithoutWaiting(tx, 'ip_allocations', 'address', address),
    );
    expect(deletion.status).toBe('fulfilled');
  });

  test('keeps a network whose floating IP is associated during the deletion', async () => {
    const { id, networkId } = await createFloatingIp();
    const port = await cloud.port(SHARED);
    const deletion = await runDuring(
      (tx) => floatingIps.lock(tx, id),
      () => cloud.networks.deleteNetwork(admin, networkId),
      async (tx) => floatingIps.update(tx, { ...(await floatingIps.get(tx, id))!, portId: port.id }),
    );
    expect(deletion).toMatchObject({ status: 'rejected', reason: { code: 'NETWORK_IN_USE' } });
    expect(await cloud.networks.getFloatingIp(ada, id)).toMatchObject({ portId: port.id });
  });

  test('a deleted network: its own ports before its subnets and addresses', async () => {
    const networkId = await cloud.net(ada, '10.9.1.0/24');
    const port = await cloud.networks.createPort(ada, { networkId, deviceOwner: 'network:dhcp' });
    const deletion = await runDuring(
      (tx) => ports.lock(tx, port.id),
      () => cloud.networks.deleteNetwork(ada, networkId),
      async (tx) => {
        await lockWithoutWaiting(tx, 'subnets', 'network_id', networkId);
        await lockWithoutWaiting(tx, 'ip_allocations', 'holder_id', port.id);
      },
    );
    expect(deletion.status).toBe('fulfilled');
  });

  test('a deleted network: its subnets in the order in which ports use them', async () => {
    const { networks, store } = cloud;
    const { id: networkId } = await networks.createNetwork(ada, {});
    const first = await networks.createSubnet(ada, { networkId, cidr: 'fd00:91::/64', ...slaac });
    const second = await networks.createSubnet(ada, { networkId, cidr: 'fd00:92::/64' });
    const third = await networks.createSubnet(ada, { networkId, cidr: '10.9.2.0/24' });
    const deletion = await runDuring(
      (tx) => lockWithoutWaiting(tx, 'subnets', 'id', third.id),
      () => networks.deleteNetwork(ada, networkId),
      async (tx) => {
        await lockWithoutWaiting(tx, 'subnets', 'id', second.id);
        await lockWithoutWaiting(tx, 'subnets', 'id', first.id);
      },
    );
    expect(deletion.status).toBe('fulfilled');
    expect(await networkTable.get(store, networkId)).toBeUndefined();
  });

  test('a deleted subnet: ports with derived addresses before the subnet and the addresses', async () => {
    const { networks } = cloud;
    const { id: networkId } = await networks.createNetwork(ada, {});
    const subnet = await networks.createSubnet(ada, { networkId, cidr: 'fd00:93::/64', ...slaac });
    const port = await networks.createPort(ada, { networkId });
    const deletion = await runDuring(
      (tx) => ports.lock(tx, port.id),
      () => networks.deleteSubnet(ada, subnet.id),
      async (tx) => {
        await lockWithoutWaiting(tx, 'subnets', 'id', subnet.id);
        await lockWithoutWaiting(tx, 'ip_allocations', 'holder_id', port.id);
      },
    );
    expect(deletion.status).toBe('fulfilled');
    expect(addresses(await networks.getPort(ada, port.id))).toEqual([]);
  });

  /** Changes a locked port's address in the database. */
  async function changeAddress(tx: Tx, id: string, address: string): Promise<void> {
    const port = (await ports.get(tx, id))!;
    await lockWithoutWaiting(tx, 'ip_allocations', 'holder_id', id);
    await tx.db.updateTable('ip_allocations').set({ address }).where('holder_id', '=', id).execute();
    await ports.update(tx, { ...port, fixedIps: port.fixedIps.map((fixedIp) => ({ ...fixedIp, address })) });
  }

  const countAddresses = async (holderId: string) =>
    (await cloud.store.db.selectFrom('ip_allocations').select('address').where('holder_id', '=', holderId).execute())
      .length;

  test('a removed router interface: the port before its addresses, which may have changed', async () => {
    const { networks } = cloud;
    const networkId = await cloud.net(ada, '10.9.3.0/24');
    const { subnetIds } = await networks.getNetwork(ada, networkId);
    const router = await networks.createRouter(ada, {});
    const port = await networks.addRouterInterface(ada, router.id, { subnetId: subnetIds[0]! });
    const removal = await runDuring(
      (tx) => ports.lock(tx, port.id),
      () => networks.removeRouterInterface(ada, router.id, { subnetId: subnetIds[0]! }),
      (tx) => changeAddress(tx, port.id, '10.9.3.77'),
    );
    expect(removal.status).toBe('fulfilled');
    expect(await countAddresses(port.id)).toBe(0);
  });

  test('a removed router gateway: the port before its addresses, which may have changed', async () => {
    const { networks } = cloud;
    const { networkId: externalNetworkId } = await createFloatingIp();
    const router = await networks.createRouter(admin, { externalNetworkId });
    const [port] = await networks.listPorts(admin, { deviceIds: [router.id] });
    const removal = await runDuring(
      (tx) => ports.lock(tx, port!.id),
      () => networks.updateRouter(admin, router.id, { externalNetworkId: null }),
      (tx) => changeAddress(tx, port!.id, '198.51.100.77'),
    );
    expect(removal.status).toBe('fulfilled');
    expect(await countAddresses(port!.id)).toBe(0);
  });

  test('the released ports of a server: in the order in which they were created', async () => {
    const { networks } = cloud;
    const deviceId = randomUUID();
    const bound = await cloud.port(SHARED, { deviceId });
    const owned = await cloud.port(SHARED, { deviceId });
    const release = await runDuring(
      (tx) => ports.lock(tx, bound.id),
      () => networks.releasePorts(ada, deviceId, { owned: [owned.id], bound: [bound.id] }),
      (tx) => lockWithoutWaiting(tx, 'ports', 'id', owned.id),
    );
    expect(release.status).toBe('fulfilled');
    expect(await networks.getPort(ada, bound.id)).toMatchObject({ deviceId: '' });
  });

  test('the groups of a security group rule: in the order of their ids', async () => {
    const { networks } = cloud;
    const groups = [
      await networks.createSecurityGroup(ada, { name: 'web' }),
      await networks.createSecurityGroup(ada, { name: 'database' }),
    ];
    const [low, high] = groups.map(({ id }) => id).sort() as [string, string];
    const creation = await runDuring(
      (tx) => securityGroups.lock(tx, low),
      () => networks.createSecurityGroupRule(ada, { ...rule, securityGroupId: high, remoteGroupId: low }),
      (tx) => lockWithoutWaiting(tx, 'security_groups', 'id', high),
    );
    expect(creation.status).toBe('fulfilled');
  });

  test('a deleted security group: the group before its rules', async () => {
    const { networks } = cloud;
    const { id } = await networks.createSecurityGroup(ada, { name: 'deleted' });
    const deletion = await runDuring(
      (tx) => securityGroups.lock(tx, id),
      () => networks.deleteSecurityGroup(ada, id),
      (tx) => lockWithoutWaiting(tx, 'security_group_rules', 'group_id', id),
    );
    expect(deletion.status).toBe('fulfilled');
  });

  test('keeps a security group that a port uses whose creation is not complete', async () => {
    const { networks, store } = cloud;
    const { id: securityGroup } = await networks.createSecurityGroup(ada, { name: 'used' });
    const { seq: _, revision: __, ...fields } = (await ports.get(store, (await cloud.port(SHARED)).id))!;
    const portId = randomUUID();
    let requests: Promise<readonly PromiseSettledResult<unknown>[]> | undefined;
    const rollback = new Error('the port is not created');
    const blocked = store.transaction(async (tx) => {
      // The request below waits at the end of its transaction, because it inserts a port with the same id.
      await ports.insert(tx, { ...fields, id: portId, mac: 'fa:16:3e:00:00:99' });
      const creation = networks.createPort(ada, { id: portId, networkId: SHARED, securityGroups: [securityGroup] });
      await waitForLockWaits(store);
      requests = Promise.allSettled([creation, networks.deleteSecurityGroup(ada, securityGroup)]);
      await waitForLockWaits(store, 2);
      throw rollback;
    });
    await expect(blocked).rejects.toBe(rollback);
    expect(await requests).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'SECURITY_GROUP_IN_USE' } },
    ]);
  });
});
