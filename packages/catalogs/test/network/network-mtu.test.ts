import { describe, expect, it } from 'vitest';
import { type HostTunnel, lowerMtuForTunnels } from '../../src/network/builtin/network-mtu.js';
import { ada, networksUnderTest, PUBLIC, SHARED, sharedNetworks } from './networks-under-test.js';

describe.each(networksUnderTest)('the MTU of embedded networks on $kind', ({ open }) => {
  const joined: HostTunnel[] = [];
  const cloud = sharedNetworks(() => open(async () => joined));

  const join = (address: string, encrypted = false) =>
    cloud.store.transaction(async (tx) => {
      await lowerMtuForTunnels(tx, joined, { address, encrypted }, 1_000);
      joined.push({ address, encrypted });
    });
  const mtuOf = async (id: string) => (await cloud.networks.getNetwork(ada, id)).mtu;
  const networkWith = async (mtu?: number) => (await cloud.networks.createNetwork(ada, { name: 'own', mtu })).id;

  it('leaves space for tunnels between hosts as soon as they exist, unless a larger value was set', async () => {
    const ids = [
      SHARED,
      await networkWith(),
      await networkWith(1_400),
      await networkWith(1_480),
      await networkWith(9_000),
      PUBLIC,
    ];
    const all = () => Promise.all(ids.map(mtuOf));
    expect(await all()).toEqual([1_500, 1_500, 1_400, 1_480, 9_000, 1_500]);
    await join('192.0.2.2');
    expect(await all()).toEqual([1_450, 1_450, 1_400, 1_450, 9_000, 1_500]);
    expect(await mtuOf(await networkWith())).toBe(1_450);
    // An explicit MTU does not change when a host joins whose tunnels do not lower the MTU.
    await cloud.networks.updateNetwork(ada, ids[1]!, { mtu: 1_500 });
    await join('192.0.2.3');
    expect(await mtuOf(ids[1]!)).toBe(1_500);
    await join('2001:db8::4');
    expect(await all()).toEqual([1_430, 1_430, 1_400, 1_430, 9_000, 1_500]);
    expect(await mtuOf(await networkWith())).toBe(1_430);
    const { networks } = await cloud.networks.networkPlan([(await cloud.port(SHARED)).deviceId]);
    expect(networks).toMatchObject([{ id: SHARED, mtu: 1_430 }]);
    // Encryption adds 60 bytes between IPv4 addresses and 80 bytes between IPv6 addresses. Encrypted tunnels use IPv6.
    await join('192.0.2.5', true);
    expect(await all()).toEqual([1_370, 1_370, 1_370, 1_370, 9_000, 1_500]);
    expect(await mtuOf(await networkWith())).toBe(1_370);
    await join('2001:db8::6', true);
    expect(await all()).toEqual([1_350, 1_350, 1_350, 1_350, 9_000, 1_500]);
  });
});
