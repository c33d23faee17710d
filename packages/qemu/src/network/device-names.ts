import { createHash } from 'node:crypto';

/** What all devices and namespaces of this program are called, at their beginning. */
const PREFIX = 'aq';

/** What devices are: a network's bridge, a guest's tap, where a router meets a network, its way outside, a network's services, its tunnel. */
type DeviceKind = 'b' | 't' | 'r' | 'u' | 's' | 'x';

const TAG_LETTERS = 2;

const hash = (text: string) => createHash('sha256').update(text).digest();

/** Two letters that are always the same for the same text. */
export function tagOf(text: string): string {
  return (hash(text).readUInt32BE() % 36 ** TAG_LETTERS).toString(36).padStart(TAG_LETTERS, '0');
}

/**
 * Names of devices and namespaces of one host, which other hosts on the same computer leave alone. Kernels take 15 bytes:
 * prefix, kind, the host's tag, and ten digits of the id, which a thousand ports share with a chance of one in two million.
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

  /** The bridge of a network. */
  bridge(networkId: string): string {
    return this.#name('b', networkId);
  }

  /** What QEMU opens for a port of a guest. */
  tap(portId: string): string {
    return this.#name('t', portId);
  }

  /** Where a router meets a network; the name of the router's namespace has the same form. */
  router(id: string): string {
    return this.#name('r', id);
  }

  /** What leads from a router to this computer. */
  uplink(routerId: string): string {
    return this.#name('u', routerId);
  }

  /** Where a network's own services are; the name of their namespace, too. */
  service(networkId: string): string {
    return this.#name('s', networkId);
  }

  /** What leads to the same network on other hosts. */
  tunnel(networkId: string): string {
    return this.#name('x', networkId);
  }

  /** All devices of a kind, as nftables names them. */
  all(kind: DeviceKind): string {
    return `"${PREFIX}${kind}${this.#tag}*"`;
  }

  /** What the tables of this host are called in nftables. */
  get table(): string {
    return `apistrata_${this.#tag}`;
  }

  /** Whether a device or a namespace is this host's. */
  isOurs(name: string): boolean {
    return /^aq[btrusx].{2}[0-9a-f]{10}$/.test(name) && name.slice(3, 3 + TAG_LETTERS) === this.#tag;
  }
}

/** A locally administered MAC address that is always the same for the same text. */
export function macFor(text: string): string {
  const digits = hash(text).toString('hex').slice(0, 10);
  return `02:${digits.match(/../g)?.join(':')}`;
}
