import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { networkTables } from '../../src/network/builtin/network-tables.js';
import { ada, addresses, type NetworksUnderTest, networksUnderTest, SHARED } from './networks-under-test.js';

const ROUNDS = 15;

describe.each(networksUnderTest)('concurrent changes of the embedded networks on $kind', ({ kind, open }) => {
  let cloud: NetworksUnderTest;
  let networks: NetworksUnderTest['networks'];
  beforeAll(async () => {
    cloud = await open();
    ({ networks } = cloud);
  });
  afterAll(() => cloud.close());

  /** Each deadlock would delay its transactions by a second. */
  async function expectNoDeadlocks(): Promise<void> {
    if (cloud.store.kind === 'sqlite') return;
    const query = sql`select deadlocks::int from pg_stat_database where datname = current_database()`;
    expect((await query.execute(cloud.store.db)).rows).toEqual([{ deadlocks: 0 }]);
  }

  /** Waits until a transaction waits for a lock. */
  const lockAwaited = () =>
    eventually(async () => {
      const query = sql`select from pg_locks where not granted`;
      expect((await query.execute(cloud.store.db)).rows).toHaveLength(1);
    });

  it('delete subnets and their network without a deadlock', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const id = await cloud.net(ada, '10.1.0.0/24', '10.2.0.0/24', '10.3.0.0/24');
      const { subnetIds } = await networks.getNetwork(ada, id);
      const results = await Promise.allSettled([
        networks.deleteNetwork(ada, id),
        ...subnetIds.map((subnetId) => networks.deleteSubnet(ada, subnetId)),
        networks.updateNetwork(ada, id, { name: 'renamed' }),
        networks.checkAddresses(ada, id),
      ]);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ kind: expect.any(String) });
      await expect(networks.getNetwork(ada, id)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND' });
      for (const subnetId of subnetIds)
        await expect(networks.getSubnet(ada, subnetId)).rejects.toMatchObject({ code: 'SUBNET_NOT_FOUND' });
    }
    await expectNoDeadlocks();
  });

  it.each([
    ['without subnets', []],
    ['with subnets', ['10.1.0.0/24', '10.2.0.0/24']],
  ])('never leave a port on a deleted network %s', async (_what, cidrs) => {
    let deletions = 0;
    // The deletion would never succeed if it started together with the other requests, because it needs more steps. Its
    // head start is changed after each round, so that the outcome changes.
    let headStart = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const networkId = await cloud.net(ada, ...cidrs);
      const deletion = networks.deleteNetwork(ada, networkId).then(
        () => true,
        () => false,
      );
      // SQLite executes statements synchronously.
      for (let step = 0; step < headStart; step++) await (kind === 'SQLite' ? undefined : setImmediate());
      const creations = Promise.allSettled([
        networks.createPort(ada, { networkId }),
        cloud.port(networkId),
        networks.createPort(ada, { networkId }),
      ]);
      const isDeleted = await deletion;
      await creations;
      const ports = await networks.listPorts(ada, { networkId });
      expect(ports.length, isDeleted ? 'the network is deleted' : 'the network exists').toBe(isDeleted ? 0 : 3);
      const remaining = await networks.listNetworks(ada, { projectId: ada.projectId });
      expect(remaining.some(({ id }) => id === networkId)).toBe(!isDeleted);
      if (isDeleted) deletions++;
      headStart = isDeleted ? Math.floor(headStart / 4) : 4 * headStart + 1;
    }
    expect(deletions).toBeGreaterThan(0);
    expect(deletions).toBeLessThan(ROUNDS);
    await expectNoDeadlocks();
  });

  it('move floating IPs between ports, and delete ports, without a deadlock', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const ports = [await cloud.port(SHARED), await cloud.port(SHARED), await cloud.port(SHARED)];
      const [one, two] = [await networks.allocateFloatingIp(ada), await networks.allocateFloatingIp(ada)];
      await networks.associateFloatingIp(ada, one.id, { portId: ports[0]!.id });
      await networks.associateFloatingIp(ada, two.id, { portId: ports[1]!.id });
      await Promise.allSettled([
        networks.associateFloatingIp(ada, one.id, { portId: ports[2]!.id }),
        networks.associateFloatingIp(ada, two.id, { portId: ports[0]!.id }),
        networks.deletePort(ada, ports[0]!.id),
        networks.deletePort(ada, ports[1]!.id),
        networks.disassociateFloatingIp(ada, two.id),
      ]);
      const remaining = (await networks.listPorts(ada, { ids: ports.map(({ id }) => id) })).map((port) => port.id);
      for (const { id, address } of [one, two]) {
        const { portId, fixedAddress } = await networks.getFloatingIp(ada, id);
        if (portId !== null) expect(remaining).toContain(portId);
        for (const port of ports.filter((each) => remaining.includes(each.id))) {
          const { fixedIps } = await networks.getPort(ada, port.id);
          expect(fixedIps.some(({ floating }) => floating.includes(address))).toBe(port.id === portId);
          if (port.id === portId) expect(addresses(port)).toContain(fixedAddress);
        }
        await networks.releaseFloatingIp(ada, id);
      }
    }
    await expectNoDeadlocks();
  });

  // SQLite executes one transaction at a time.
  it.runIf(kind === 'PostgreSQL')('lock the current port of a floating IP before the floating IP', async () => {
    const { store } = cloud;
    const { floatingIps, ports } = networkTables;
    const [previous, current] = [await cloud.port(SHARED), await cloud.port(SHARED)];
    const { id } = await networks.allocateFloatingIp(ada);
    await networks.associateFloatingIp(ada, id, { portId: previous.id });
    let disassociated: Promise<unknown> | undefined;
    await store.transaction(async (deletion) => {
      await ports.lock(deletion, current.id);
      await store.transaction(async (move) => {
        await ports.lock(move, previous.id);
        disassociated = networks.disassociateFloatingIp(ada, id);
        await lockAwaited();
        const floatingIp = await floatingIps.get(move, id);
        await floatingIps.update(move, { ...floatingIp!, portId: current.id });
      });
      await lockAwaited();
      await floatingIps.lock(deletion, id);
    });
    expect(await disassociated).toMatchObject({ portId: null });
    await expectNoDeadlocks();
  });
});
