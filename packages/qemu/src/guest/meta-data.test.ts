import { describe, expect, it } from 'vitest';
import type { GuestAddress } from './guest-networks.js';
import { createNetworkData } from './meta-data.js';

const ipv4: GuestAddress = {
  address: '10.0.0.5',
  version: 4,
  isStatic: false,
  cidr: '10.0.0.0/20',
  gateway: '10.0.0.1',
  nameservers: [],
  routes: [
    { destination: '10.9.0.0/17', nexthop: '10.0.0.2' },
    { destination: '0.0.0.0/0', nexthop: '10.0.0.3' },
  ],
};
const ipv6: GuestAddress = {
  address: 'fd00::5',
  version: 6,
  isStatic: false,
  cidr: 'fd00::/64',
  gateway: 'fd00::1',
  nameservers: [],
  routes: [
    { destination: 'fd01::/52', nexthop: 'fd00::2' },
    { destination: 'fd02::9/128', nexthop: 'fd00::3' },
    { destination: '::/0', nexthop: 'fd00::4' },
  ],
};

describe('the network data of a guest', () => {
  it.each([
    [
      ipv4,
      '255.255.240.0',
      [
        { network: '0.0.0.0', netmask: '0.0.0.0', gateway: '10.0.0.1' },
        { network: '10.9.0.0', netmask: '255.255.128.0', gateway: '10.0.0.2' },
        { network: '0.0.0.0', netmask: '0.0.0.0', gateway: '10.0.0.3' },
      ],
    ],
    [
      ipv6,
      'ffff:ffff:ffff:ffff::',
      [
        { network: '::', netmask: '::', gateway: 'fd00::1' },
        { network: 'fd01::', netmask: 'ffff:ffff:ffff:f000::', gateway: 'fd00::2' },
        { network: 'fd02::9', netmask: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', gateway: 'fd00::3' },
        { network: '::', netmask: '::', gateway: 'fd00::4' },
      ],
    ],
  ])('contains the masks of IPv$version networks and routes as addresses', (address, netmask, routes) => {
    const port = { portId: 'p', networkId: 'n', mac: 'fa:16:3e:00:00:01', mtu: 1500, tag: null };
    expect(createNetworkData({ interfaces: [{ ...port, addresses: [address] }] })).toMatchObject({
      networks: [{ ip_address: address.address, netmask, routes }],
    });
  });

  it.each([
    [ipv4, false, 'ipv4_dhcp'],
    [ipv4, true, 'ipv4'],
    [ipv6, false, 'ipv6'],
    [ipv6, true, 'ipv6'],
  ])('specifies DHCP for IPv4 addresses that DHCP assigns, and no other addresses (%#)', (address, isStatic, type) => {
    const port = { portId: 'p', networkId: 'n', mac: 'fa:16:3e:00:00:01', mtu: 1500, tag: null };
    const interfaces = [{ ...port, addresses: [{ ...address, isStatic }] }];
    expect(createNetworkData({ interfaces })).toMatchObject({ networks: [{ type }] });
  });
});
