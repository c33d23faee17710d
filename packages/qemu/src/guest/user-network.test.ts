import { describe, expect, it } from 'vitest';
import type { GuestAddress, GuestInterface } from './guest-networks.js';
import { userNetwork } from './user-network.js';

function nic(...addresses: readonly Partial<GuestAddress>[]): GuestInterface {
  const plain = { version: 4, cidr: '10.0.0.0/16', gateway: '10.0.0.1', nameservers: [], routes: [] } as const;
  const full = addresses.map((address) => ({ address: '10.0.0.77', ...plain, ...address }));
  return { portId: 'p', networkId: 'n', mac: 'fa:16:3e:00:00:01', mtu: 1500, tag: null, addresses: full };
}

describe('the network that QEMU plays for a guest', () => {
  it('gives just the address of the port, with the gateway of the subnet', () => {
    expect(userNetwork(nic({}))).toBe(
      'user,ipv6=off,net=10.0.0.0/16,host=10.0.0.1,dhcpstart=10.0.0.77,dns=10.0.255.254',
    );
  });

  it('has addresses of its own that the guest has not', () => {
    const small = nic({ cidr: '192.168.7.8/29', address: '192.168.7.9', gateway: null });
    expect(userNetwork(small)).toContain('host=192.168.7.10,dhcpstart=192.168.7.9,dns=192.168.7.14');
    const last = nic({ cidr: '192.168.7.8/29', address: '192.168.7.14', gateway: '192.168.7.13' });
    expect(userNetwork(last)).toContain('dns=192.168.7.12');
  });

  it('leads nowhere without an address of version 4', () => {
    expect(userNetwork(nic())).toBe('hubport,hubid=1');
    expect(userNetwork(nic({ version: 6, address: 'fd00::7', cidr: 'fd00::/64' }))).toBe('hubport,hubid=1');
  });

  it('leads ports of this host to the guest', () => {
    expect(userNetwork(nic({}), [{ hostPort: 2222, guestPort: 22 }])).toContain(
      'hostfwd=tcp:127.0.0.1:2222-10.0.0.77:22',
    );
  });

  it.each([['10.0.0.0/30'], ['10.0.0.0/7'], ['10.0.0.0,restrict=off/16'], ['nonsense']])('refuses %s', (cidr) => {
    expect(() => userNetwork(nic({ cidr }))).toThrow('cannot be played');
  });
});
