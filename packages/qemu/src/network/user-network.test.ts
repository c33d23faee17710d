import { describe, expect, it } from 'vitest';
import type { GuestAddress, GuestInterface } from '../guest/guest-networks.js';
import { createUserNetwork } from './user-network.js';

function nic(...addresses: readonly Partial<GuestAddress>[]): GuestInterface {
  const subnet = { cidr: '10.0.0.0/16', gateway: '10.0.0.1', nameservers: [], routes: [] };
  const plain = { version: 4, isStatic: false, ...subnet } as const;
  const full = addresses.map((address) => ({ address: '10.0.0.77', ...plain, ...address }));
  return { portId: 'p', networkId: 'n', mac: 'fa:16:3e:00:00:01', mtu: 1500, tag: null, addresses: full };
}

describe('the user-mode network of a guest', () => {
  it('offers only the address of the port, with the gateway of the subnet', () => {
    expect(createUserNetwork(nic({}))).toEqual({
      type: 'user',
      ipv6: false,
      net: '10.0.0.0/16',
      host: '10.0.0.1',
      dhcpstart: '10.0.0.77',
      dns: '10.0.255.254',
    });
  });

  it('uses a gateway and a DNS address that differ from the address of the guest', () => {
    const small = nic({ cidr: '192.168.7.8/29', address: '192.168.7.9', gateway: null });
    expect(createUserNetwork(small)).toMatchObject({ host: '192.168.7.10', dns: '192.168.7.14' });
    const last = nic({ cidr: '192.168.7.8/29', address: '192.168.7.14', gateway: '192.168.7.13' });
    expect(createUserNetwork(last)).toMatchObject({ dns: '192.168.7.12' });
  });

  it('is not emulated without an IPv4 address', () => {
    expect(createUserNetwork(nic())).toEqual({ type: 'hubport', hubid: 1 });
    expect(createUserNetwork(nic({ version: 6, address: 'fd00::7', cidr: 'fd00::/64' }))).toEqual({
      type: 'hubport',
      hubid: 1,
    });
  });

  it.each([['10.0.0.0/30'], ['10.0.0.0/7'], ['10.0.0.0,restrict=off/16'], ['nonsense']])('rejects %s', (cidr) => {
    expect(() => createUserNetwork(nic({ cidr }))).toThrow('cannot be emulated');
  });
});
