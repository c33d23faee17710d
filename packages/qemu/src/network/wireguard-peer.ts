import { createHash } from 'node:crypto';

/** The network of the addresses inside encrypted tunnels (RFC 4193). */
const INSIDE = 'fda9:7d5e:41c6:1';
const KEY = /^[A-Za-z0-9+/]{43}=$/;

/** The end of the encrypted tunnels of another host. */
export interface WireguardPeer {
  /** The IP address of the host. */
  readonly address: string;
  readonly publicKey: string;
  readonly port: number;
}

/** Returns true if a string has the form of a public key. */
export function isPublicKey(text: string): boolean {
  return KEY.test(text);
}

/** Returns the address inside encrypted tunnels, which depends only on the key, in its canonical form. */
export function insideAddress(publicKey: string): string {
  const hash = createHash('sha256').update(publicKey).digest();
  const groups = [0, 2, 4, 6].map((at) => (hash.readUInt16BE(at) | 0x1000).toString(16));
  return `${INSIDE}:${groups.join(':')}`;
}
