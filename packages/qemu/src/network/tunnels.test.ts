import type { KnownHost } from '@apistrata/compute-engine/drivers';
import { expect, it } from 'vitest';
import { readCurrentHosts } from './tunnels.js';
import { deriveInnerAddress } from './wireguard-peer.js';

const KEY = 'HSFSddrFk2Cf2OjGdn6+2q8q24/B9HOWnh2KvwMtCWQ=';
const OWN = { device: 'aqwh70000000000', address: 'fda9:7d5e:41c6:1:1111:1111:1111:1111' };

const host = (name: string, more: Partial<KnownHost> = {}): KnownHost => ({
  name,
  address: `192.0.2.${name.slice(1)}`,
  alive: true,
  tunnelPort: 4789,
  wireguard: null,
  ...more,
});
const encrypted = (name: string, publicKey = KEY) => host(name, { wireguard: { publicKey, port: 51_820 } });
const seenBy = (own: typeof OWN | undefined, ...others: readonly KnownHost[]) =>
  readCurrentHosts({ self: 'h1', address: '192.0.2.1', all: async () => [host('h1'), ...others] }, 4789, own);

it('derives an address from a key, in the form in which the kernel reports it', () => {
  expect(deriveInnerAddress(KEY)).toBe('fda9:7d5e:41c6:1:3856:56ec:d81c:7c33');
});

it('contains the other hosts that have tunnels, with their inner addresses if the tunnels are encrypted', async () => {
  const plain = await seenBy(undefined, host('h2'), host('h3', { tunnelPort: null }), host('h4', { alive: false }));
  expect([...plain.tunnels.peers.keys()]).toEqual(['h2', 'h4']);
  expect([plain.alive, plain.problem]).toEqual([['h2'], null]);
  const { tunnels, problem } = await seenBy(OWN, encrypted('h2'));
  expect(tunnels.local).toEqual({ address: OWN.address, port: 4789 });
  expect(tunnels.peers.get('h2')).toEqual({ address: deriveInnerAddress(KEY), port: 4789 });
  expect(tunnels.wireguard?.peers).toEqual([{ address: '192.0.2.2', publicKey: KEY, port: 51_820 }]);
  expect(problem).toBeNull();
});

it('excludes hosts that differ in encryption, and names those that are alive', async () => {
  const withKey = await seenBy(OWN, host('h2'), encrypted('h3', 'peer'), host('h4', { alive: false }), encrypted('h5'));
  expect([...withKey.tunnels.peers.keys()]).toEqual(['h5']);
  expect(withKey.problem).toBe('no tunnels to the hosts h2, h3, which do not encrypt their tunnels');
  const withoutKey = await seenBy(undefined, encrypted('h2'), host('h3'));
  expect([...withoutKey.tunnels.peers.keys()]).toEqual(['h3']);
  expect(withoutKey.problem).toBe('no tunnels to the hosts h2, which encrypt their tunnels');
  // Hosts without a tunnel are still alive, so their routers do not move to other hosts.
  expect(withKey.alive).toEqual(['h2', 'h3', 'h5']);
});
