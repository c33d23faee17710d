import { isIPv4 } from 'node:net';
import type { UserForwards } from '../forwards/user-forwards.js';
import type { GuestInterface } from '../guest/guest-networks.js';
import { QemuError } from '../qemu-error.js';

const parseIpv4Address = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const formatIpv4Address = (value: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** The arguments of `netdev_add`, without the id. */
export type NetworkBackend = Readonly<Record<string, string | number | boolean | readonly QmpString[]>>;

/** An item of a string list in QMP. */
export interface QmpString {
  readonly str: string;
}

/** The backend of an interface that has no network. */
const UNCONNECTED_BACKEND: NetworkBackend = { type: 'hubport', hubid: 1 };

/** Returns true if QEMU can emulate an interface's network. */
export function hasUserNetwork({ addresses }: GuestInterface): boolean {
  return addresses.some(({ version }) => version === 4);
}

/**
 * Returns the backend for a network that QEMU emulates for one interface. QEMU assigns the port's address by DHCP, acts
 * as the gateway, forwards DNS requests to this host's resolver, and lets the guest reach external networks. Guests
 * cannot reach each other. An interface without an IPv4 address gets no network.
 *
 * @param publishedPorts the host ports that are forwarded to the guest
 */
export function createUserNetwork({ addresses }: GuestInterface, publishedPorts?: UserForwards): NetworkBackend {
  const ipv4Address = addresses.find(({ version }) => version === 4);
  if (!ipv4Address) return UNCONNECTED_BACKEND;
  const [networkAddress, length] = ipv4Address.cidr.split('/') as [string, string];
  const prefix = Number(length);
  if (!isIPv4(networkAddress) || !isIPv4(ipv4Address.address) || !(prefix >= 8 && prefix <= 29))
    throw new QemuError(
      'UNSUPPORTED',
      `the network ${ipv4Address.cidr} cannot be emulated: it needs a prefix length of 8 to 29`,
    );
  const networkNumber = parseIpv4Address(networkAddress);
  const lastAddress = networkNumber + 2 ** (32 - prefix) - 1;
  // QEMU needs two addresses in the guest's subnet: one for the gateway, and one for the DNS resolver.
  const findFreeAddress = (used: readonly (string | null)[], from: number, step: 1 | -1): string => {
    for (let value = from; ; value += step)
      if (!used.includes(formatIpv4Address(value))) return formatIpv4Address(value);
  };
  const gateway = ipv4Address.gateway ?? findFreeAddress([ipv4Address.address], networkNumber + 1, 1);
  const resolver = findFreeAddress([ipv4Address.address, gateway], lastAddress - 1, -1);
  return {
    type: 'user',
    ipv6: false,
    net: `${formatIpv4Address(networkNumber)}/${prefix}`,
    host: gateway,
    dhcpstart: ipv4Address.address,
    dns: resolver,
    ...(publishedPorts &&
      publishedPorts.forwards.length > 0 && { hostfwd: formatHostForwards(publishedPorts, ipv4Address.address) }),
  };
}

function formatHostForwards({ address, forwards }: UserForwards, guest: string): readonly QmpString[] {
  return forwards.map(({ protocol, hostPort, guestPort }) => ({
    str: `${protocol}:${address}:${hostPort}-${guest}:${guestPort}`,
  }));
}
