import { isIPv4 } from 'node:net';
import type { UserForwards } from '../forwards/user-forwards.js';
import type { GuestInterface } from '../guest/guest-networks.js';
import { QemuError } from '../qemu-error.js';

const toNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toText = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** The arguments of `netdev_add`, without the id. */
export type NetworkBackend = Readonly<Record<string, string | number | boolean | readonly NetworkText[]>>;

/** An item of a string list in QMP. */
export interface NetworkText {
  readonly str: string;
}

/** The backend of an interface that has no network. */
const NOWHERE: NetworkBackend = { type: 'hubport', hubid: 1 };

/** Returns true if QEMU can emulate an interface's network. */
export function hasUserNetwork({ addresses }: GuestInterface): boolean {
  return addresses.some(({ version }) => version === 4);
}

/**
 * Returns the backend for a network that QEMU emulates for one interface. QEMU assigns the port's address by DHCP, acts
 * as the gateway, forwards DNS requests to this host's resolver, and lets the guest reach external networks. Guests
 * cannot reach each other. An interface without an IPv4 address gets no network.
 *
 * @param published the host ports that are forwarded to the guest
 */
export function userNetwork({ addresses }: GuestInterface, published?: UserForwards): NetworkBackend {
  const given = addresses.find(({ version }) => version === 4);
  if (!given) return NOWHERE;
  const [first, length] = given.cidr.split('/') as [string, string];
  const prefix = Number(length);
  if (!isIPv4(first) || !isIPv4(given.address) || !(prefix >= 8 && prefix <= 29))
    throw new QemuError(
      'UNSUPPORTED',
      `the network ${given.cidr} cannot be emulated: it needs a prefix length of 8 to 29`,
    );
  const network = toNumber(first);
  const last = network + 2 ** (32 - prefix) - 1;
  // QEMU needs two addresses in the guest's subnet: one for the gateway, and one for the DNS resolver.
  const findFree = (used: readonly (string | null)[], from: number, step: 1 | -1): string => {
    for (let value = from; ; value += step) if (!used.includes(toText(value))) return toText(value);
  };
  const gateway = given.gateway ?? findFree([given.address], network + 1, 1);
  const resolver = findFree([given.address, gateway], last - 1, -1);
  return {
    type: 'user',
    ipv6: false,
    net: `${toText(network)}/${prefix}`,
    host: gateway,
    dhcpstart: given.address,
    dns: resolver,
    ...(published && published.forwards.length > 0 && { hostfwd: hostForwards(published, given.address) }),
  };
}

function hostForwards({ address, forwards }: UserForwards, guest: string): readonly NetworkText[] {
  return forwards.map(({ protocol, hostPort, guestPort }) => ({
    str: `${protocol}:${address}:${hostPort}-${guest}:${guestPort}`,
  }));
}
