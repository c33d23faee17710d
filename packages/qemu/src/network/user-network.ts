import { isIPv4 } from 'node:net';
import type { UserForwards } from '../forwards/forwards.js';
import type { GuestInterface } from '../guest/guest-networks.js';
import { QemuError } from '../qemu-error.js';

const toNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toText = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** What `netdev_add` takes, but for the id. */
export type NetworkBackend = Readonly<Record<string, string | number | boolean | readonly NetworkText[]>>;

/** How QMP wants texts of which there are several. */
export interface NetworkText {
  readonly str: string;
}

/** An interface that leads nowhere. */
const NOWHERE: NetworkBackend = { type: 'hubport', hubid: 1 };

/** Whether an interface has a network that QEMU can play. */
export function hasUserNetwork({ addresses }: GuestInterface): boolean {
  return addresses.some(({ version }) => version === 4);
}

/**
 * A network that QEMU itself plays for one guest: it answers DHCP with just the address of the
 * port, is the gateway, forwards names to the resolver of this host, and lets the guest reach out. Guests do not reach each
 * other. Without an IPv4 address the interface leads nowhere.
 *
 * @param published ports of this computer that lead to the guest
 */
export function userNetwork({ addresses }: GuestInterface, published?: UserForwards): NetworkBackend {
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
    ...(published && published.forwards.length > 0 && { hostfwd: hostForwards(published, given.address) }),
  };
}

function hostForwards({ address, forwards }: UserForwards, guest: string): readonly NetworkText[] {
  return forwards.map(({ protocol, hostPort, guestPort }) => ({
    str: `${protocol}:${address}:${hostPort}-${guest}:${guestPort}`,
  }));
}
