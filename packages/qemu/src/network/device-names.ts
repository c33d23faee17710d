import { createHash } from 'node:crypto';

/** The prefix of all devices and namespaces of this program. */
const PREFIX = 'aq';

/**
 * Kinds of devices: a network's bridge, a guest's tap, a router's interface, its uplink, a network's services, its
 * tunnel, its connection to a physical network, the end of that connection in a bridge of the computer, its VLAN, and
 * the interface that encrypts tunnels.
 */
type DeviceKind = 'b' | 't' | 'r' | 'u' | 's' | 'x' | 'p' | 'q' | 'v' | 'w';

const TAG_LETTERS = 2;

const hash = (text: string) => createHash('sha256').update(text).digest();

/** Returns two letters that depend only on the text. */
export function tagOf(text: string): string {
  return (hash(text).readUInt32BE() % 36 ** TAG_LETTERS).toString(36).padStart(TAG_LETTERS, '0');
}

/**
 * Names of a host's devices and namespaces, distinct from those of other hosts on the same computer. Kernels allow
 * 15 bytes: prefix, kind, the host's tag, and ten digits of the id. With a thousand ports, the probability of a
 * collision is one in two million.
 */
export class DeviceNames {
  readonly #tag: string;

  /** @param tag two letters or digits */
  constructor(tag: string) {
    this.#tag = tag;
  }

  #name(kind: DeviceKind, id: string): string {
    const digits = /^[0-9a-f-]{36}$/.test(id) ? id.replaceAll('-', '') : hash(id).toString('hex');
    return `${PREFIX}${kind}${this.#tag}${digits.slice(0, 10)}`;
  }

  /** Returns the name of the bridge of a network. */
  bridge(networkId: string): string {
    return this.#name('b', networkId);
  }

  /** Returns the name of the device that QEMU opens for a guest's port. */
  tap(portId: string): string {
    return this.#name('t', portId);
  }

  /** Returns the name of a router's interface on a network, or of a router's namespace. */
  router(id: string): string {
    return this.#name('r', id);
  }

  /** Returns the name of the device between a router and this computer. */
  uplink(routerId: string): string {
    return this.#name('u', routerId);
  }

  /** Returns the name of the device for a network's services; their namespace has the same name. */
  service(networkId: string): string {
    return this.#name('s', networkId);
  }

  /** Returns the name of the tunnel to the same network on other hosts. */
  tunnel(networkId: string): string {
    return this.#name('x', networkId);
  }

  /** Returns the name of the device that connects a network to a bridge of the computer. */
  physical(networkId: string): string {
    return this.#name('p', networkId);
  }

  /** Returns the name of the other end of {@link physical}, in the bridge of the computer. */
  plug(networkId: string): string {
    return this.#name('q', networkId);
  }

  /** Returns the name of the device that carries a VLAN. */
  vlan(networkId: string): string {
    return this.#name('v', networkId);
  }

  /** The name of the interface that encrypts tunnels. */
  get wireguard(): string {
    return this.#name('w', 'wireguard');
  }

  /** Returns a pattern for all devices of a kind in nftables. */
  all(kind: DeviceKind): string {
    return `"${PREFIX}${kind}${this.#tag}*"`;
  }

  /** A number of this host, distinct from those of other hosts on the same computer; less than 1296. */
  get number(): number {
    return Number.parseInt(this.#tag, 36);
  }

  /** The name of this host's tables in nftables. */
  get table(): string {
    return `apistrata_${this.#tag}`;
  }

  /** Returns true if a device or a namespace belongs to this host. */
  isManaged(name: string): boolean {
    return /^aq[bpqrstuvwx].{2}[0-9a-f]{10}$/.test(name) && name.slice(3, 3 + TAG_LETTERS) === this.#tag;
  }
}

/** Returns a locally administered MAC address that depends only on the text. */
export function macFor(text: string): string {
  const digits = hash(text).toString('hex').slice(0, 10);
  return `02:${digits.match(/../g)?.join(':')}`;
}
