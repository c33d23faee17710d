import { createHash } from 'node:crypto';

/** The prefix of all device and namespace names that this package creates. */
const NAME_PREFIX = 'aq';

/**
 * The letter that identifies a kind of network device. In this order, the letters mean: a network's bridge, a guest's
 * TAP device, a router's interface, a router's uplink, the interface of a network's services, a network's tunnel, its
 * connection to a physical network, the other end of that connection in one of the computer's own bridges, a network's
 * VLAN, and the interface that encrypts tunnels.
 */
type DeviceKind = 'b' | 't' | 'r' | 'u' | 's' | 'x' | 'p' | 'q' | 'v' | 'w';

const TAG_LENGTH = 2;

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Returns two letters or digits that are derived from a text. */
export function deriveTag(text: string): string {
  return (sha256(text).readUInt32BE() % 36 ** TAG_LENGTH).toString(36).padStart(TAG_LENGTH, '0');
}

/**
 * The names of a host's network devices and namespaces, which differ from those of other hosts on the same computer.
 * Linux allows 15 bytes: prefix, kind, the host's tag, and ten digits of the id. With a thousand ports, the probability
 * of a collision is one in two million.
 */
export class DeviceNames {
  readonly #tag: string;

  /** @param tag two letters or digits */
  constructor(tag: string) {
    this.#tag = tag;
  }

  #name(kind: DeviceKind, id: string): string {
    const digits = /^[0-9a-f-]{36}$/.test(id) ? id.replaceAll('-', '') : sha256(id).toString('hex');
    return `${NAME_PREFIX}${kind}${this.#tag}${digits.slice(0, 10)}`;
  }

  /** Returns the name of a network's bridge. */
  bridge(networkId: string): string {
    return this.#name('b', networkId);
  }

  /** Returns the name of the TAP device that QEMU opens for a guest's port. */
  tap(portId: string): string {
    return this.#name('t', portId);
  }

  /** Returns the name of a router's interface on a network, or of a router's namespace. */
  router(id: string): string {
    return this.#name('r', id);
  }

  /** Returns the name of the device that connects a router to this computer. */
  uplink(routerId: string): string {
    return this.#name('u', routerId);
  }

  /** Returns the name of the device, and of the namespace, of a network's DHCP and metadata services. */
  service(networkId: string): string {
    return this.#name('s', networkId);
  }

  /** Returns the name of a network's tunnel to other hosts. */
  tunnel(networkId: string): string {
    return this.#name('x', networkId);
  }

  /** Returns the name of the device that connects a network to one of the computer's own bridges. */
  physical(networkId: string): string {
    return this.#name('p', networkId);
  }

  /** Returns the name of the other end of {@link physical}, which is attached to the computer's own bridge. */
  physicalPeer(networkId: string): string {
    return this.#name('q', networkId);
  }

  /** Returns the name of a network's VLAN device. */
  vlan(networkId: string): string {
    return this.#name('v', networkId);
  }

  /** The name of the interface that encrypts tunnels. */
  get wireguard(): string {
    return this.#name('w', 'wireguard');
  }

  /** Returns the nftables pattern that matches all of this host's devices of one kind. */
  patternFor(kind: DeviceKind): string {
    return `"${NAME_PREFIX}${kind}${this.#tag}*"`;
  }

  /** This host's number, which differs from those of other hosts on the same computer; less than 1296. */
  get hostNumber(): number {
    return Number.parseInt(this.#tag, 36);
  }

  /** The name of this host's nftables tables. */
  get tableName(): string {
    return `apistrata_${this.#tag}`;
  }

  /** Returns true if the name is that of a device or a namespace of this host. */
  isManaged(name: string): boolean {
    return /^aq[bpqrstuvwx].{2}[0-9a-f]{10}$/.test(name) && name.slice(3, 3 + TAG_LENGTH) === this.#tag;
  }
}

/** Returns a locally administered MAC address that is derived from a text. */
export function deriveMac(text: string): string {
  const digits = sha256(text).toString('hex').slice(0, 10);
  return `02:${digits.match(/../g)?.join(':')}`;
}
