import { describe, expect, it } from 'vitest';
import {
  ada,
  addresses,
  admin,
  bob,
  type NetworksUnderTest,
  networksUnderTest,
  PUBLIC,
  SHARED,
  sharedNetworks,
} from './networks-under-test.js';

describe.each(networksUnderTest)('the network plan of the embedded networks on several hosts, on $kind', ({ open }) => {
  const cloud = sharedNetworks(open);

  type Server = { readonly deviceId: string };
  const planFor = (self: string, servers: readonly Server[], alive: readonly string[] = ['h1', 'h2', 'h3']) =>
    cloud.networks.networkPlan(
      servers.map(({ deviceId }) => deviceId),
      { self, alive },
    );
  const homes = async (...requested: Parameters<typeof planFor>) =>
    Object.fromEntries((await planFor(...requested)).routers.map(({ id, host }) => [id, host]));
  const release = (port: Awaited<ReturnType<NetworksUnderTest['port']>>) =>
    cloud.networks.releasePorts(ada, port.deviceId, { owned: [port.id], bound: [] });

  it('has the same network numbers on all of them', async () => {
    const [one, other] = [await cloud.port(SHARED), await cloud.port(await cloud.net(ada, '10.20.0.0/24'))];
    const segments = (await planFor('h1', [one, other])).networks.map(({ segment }) => segment);
    expect(new Set(segments).size).toBe(2);
    for (const segment of segments) expect(segment).toBeGreaterThan(0);
    expect((await planFor('h2', [other])).networks.map(({ segment }) => segment)).toEqual([segments[1]]);
    await release(one);
    await release(other);
    await planFor('h1', []);
  });

  it('has each router on the host that needed it first, until that host fails or no host needs it', async () => {
    const [one, two] = [await cloud.port(SHARED), await cloud.port(SHARED)];
    expect(await homes('h1', [one])).toEqual({ [SHARED]: 'h1' });
    expect(await homes('h2', [two])).toEqual({ [SHARED]: 'h1' });
    // Host h1 does not need the router anymore because its guest was deleted, but the guest on host h2 still does.
    await release(one);
    const plan = await planFor('h1', []);
    expect(plan.routers).toMatchObject([{ id: SHARED, host: 'h1' }]);
    expect(plan.networks.map(({ id }) => id)).toEqual([SHARED]);
    expect(plan.ports).toEqual([]);
    expect(await homes('h2', [two])).toEqual({ [SHARED]: 'h1' });

    expect(await homes('h2', [two], ['h3'])).toEqual({ [SHARED]: 'h2' });
    // When host h1 returns, its plan does not contain the router, which has moved.
    expect(await homes('h1', [])).toEqual({});
    expect(await homes('h3', [two], ['h1', 'h2'])).toEqual({ [SHARED]: 'h2' });
    await release(two);
    expect(await homes('h2', [])).toEqual({});
    const three = await cloud.port(SHARED);
    expect(await homes('h3', [three])).toEqual({ [SHARED]: 'h3' });
    await release(three);
    expect(await homes('h3', [])).toEqual({});
  });

  it('assigns a router to one host, even if several hosts need it concurrently', async () => {
    const all = await Promise.all(['h1', 'h2', 'h3'].map(async (host) => ({ host, port: await cloud.port(SHARED) })));
    const found = await Promise.all(all.map(({ host, port }) => homes(host, [port])));
    const [home] = found.map((routers) => routers[SHARED]);
    expect(found).toEqual(all.map(() => ({ [SHARED]: home })));
    const others = all.map(({ host }) => host).filter((host) => host !== home);
    const again = await Promise.all(
      all.filter(({ host }) => host !== home).map(({ host, port }) => homes(host, [port], others)),
    );
    expect(others).toContain(again[0]![SHARED]);
    expect(again[1]).toEqual(again[0]);
    for (const { port } of all) await release(port);
    for (const { host } of all) await planFor(host, []);
  });

  it('contains, on the host of a router, all its networks and the floating IPs of guests on other hosts', async () => {
    const [near, remote] = [await cloud.net(ada, '10.30.0.0/24'), await cloud.net(ada, '10.31.0.0/24')];
    const router = await cloud.networks.createRouter(admin, { name: 'r', externalNetworkId: PUBLIC });
    for (const network of [near, remote]) {
      const [subnetId] = (await cloud.networks.getNetwork(admin, network)).subnetIds;
      await cloud.networks.addRouterInterface(admin, router.id, { subnetId: subnetId! });
    }
    const [here, there] = [await cloud.port(near), await cloud.port(remote)];
    const floating = await cloud.networks.allocateFloatingIp(ada, 'public');
    await cloud.networks.associateFloatingIp(ada, floating.id, { portId: there.id });
    const plan = await planFor('h1', [here]);
    expect(plan.networks.map(({ id }) => id)).toEqual([near, remote]);
    expect(plan.routers).toMatchObject([
      { id: router.id, host: 'h1', floating: [{ address: floating.address, fixedAddress: addresses(there)[0] }] },
    ]);
    expect(plan.routers[0]!.interfaces.map(({ networkId }) => networkId)).toEqual([near, remote]);
    expect(plan.ports.map(({ id }) => id)).toEqual([here.id]);
    // The other host's plan contains only the networks of that host's own guests.
    const other = await planFor('h2', [there]);
    expect(other.networks.map(({ id }) => id)).toEqual([remote]);
    expect(other.routers).toMatchObject([{ id: router.id, host: 'h1', interfaces: [{ networkId: remote }] }]);
    expect(other.routers[0]!.floating).toHaveLength(1);
  });

  it('contains the members of remote groups on all hosts, and of no other groups', async () => {
    const here = await cloud.port(SHARED);
    const [own] = here.securityGroups;
    const [elsewhere, otherPort] = [await cloud.port(SHARED), await cloud.port(SHARED, { projectId: 'p-bob' }, bob)];
    const { members, rules } = await planFor('h1', [here]);
    expect(rules.map(({ remoteGroupId }) => remoteGroupId)).toContain(own!.id);
    expect(Object.keys(members)).toEqual([own!.id]);
    for (const port of [here, elsewhere]) expect(members[own!.id]).toEqual(expect.arrayContaining(addresses(port)));
    for (const address of addresses(otherPort)) expect(members[own!.id]).not.toContain(address);
    // A plan for a single host assumes that the host runs all servers.
    const alone = await cloud.networks.networkPlan([here.deviceId]);
    expect(alone.members).toEqual({ [own!.id]: addresses(here) });
  });
});
