import { isIPv4 } from 'node:net';
import { QemuError } from '../qemu-error.js';
import type { GuestInterface } from './guest-networks.js';

const toNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toText = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** What `netdev_add` takes, but for the id. */
export type NetworkBackend = Readonly<Record<string, string | number | boolean>>;

/** An interface that leads nowhere. */
const NOWHERE: NetworkBackend = { type: 'hubport', hubid: 1 };

/**
 * A network that QEMU itself plays for one guest: it answers DHCP with just the address of the
 * port, is the gateway, forwards names to the resolver of this host, and lets the guest reach out. Guests do not reach each
 * other. Without an IPv4 address the interface leads nowhere.
 */
export function userNetwork({ addresses }: GuestInterface): NetworkBackend {
  const given = addresses.find(({ version }) => version === 4);
  if (!given) return NOWHERE;
  const [first, length] = given.cidr.split('/') as [string, string];
  const prefix = Number(length);
  if (!isIPv4(first) || !isIPv4(given.address) || !(prefix >= 8 && prefix <= 29))
    throw new QemuError(
      'NOT_POSSIBLE',
      `the network ${given.cidr} cannot be played for a guest: it needs 8 to 29 bits`,
    );
  const network = toNumber(first);
  const last = network + 2 ** (32 - prefix) - 1;
  // The network has addresses of its own in the guest's subnet: the gateway's, and another one for the resolver.
  const free = (taken: readonly (string | null)[], from: number, step: 1 | -1): string => {
    for (let value = from; ; value += step) if (!taken.includes(toText(value))) return toText(value);
  };
  const gateway = given.gateway ?? free([given.address], network + 1, 1);
  const resolver = free([given.address, gateway], last - 1, -1);
  return {
    type: 'user',
    ipv6: false,
    net: `${toText(network)}/${prefix}`,
    host: gateway,
    dhcpstart: given.address,
    dns: resolver,
  };
}
