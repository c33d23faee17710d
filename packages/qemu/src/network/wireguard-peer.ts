import { createHash } from 'node:crypto';

/** The IPv6 prefix of the addresses inside encrypted tunnels (a unique local prefix, RFC 4193). */
const INNER_PREFIX = 'fda9:7d5e:41c6:1';
const KEY_PATTERN = /^[A-Za-z0-9+/]{43}=$/;

/** Another host's endpoint for encrypted tunnels. */
export interface WireguardPeer {
  /** The other host's IP address, outside of the tunnels. */
  readonly address: string;
  readonly publicKey: string;
  readonly port: number;
}

/** Returns true if a string has the format of a WireGuard public key. */
export function isPublicKey(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** Returns a host's canonical IPv6 address inside encrypted tunnels, which is derived from the host's public key. */
export function deriveInnerAddress(publicKey: string): string {
  const hash = createHash('sha256').update(publicKey).digest();
  const groups = [0, 2, 4, 6].map((offset) => (hash.readUInt16BE(offset) | 0x1000).toString(16));
  return `${INNER_PREFIX}:${groups.join(':')}`;
}
