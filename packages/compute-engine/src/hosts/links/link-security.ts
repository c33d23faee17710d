import { createPrivateKey, createPublicKey, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { Key, Sealer } from '../../secrets/sealer.js';

/** Options for TLS with pre-shared keys and forward secrecy, without certificates. */
export const linkTlsOptions: SecureContextOptions = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
};

/** The identity and the pre-shared key with which a process opens a link. */
export interface LinkCredentials {
  readonly identity: string;
  readonly psk: Buffer;
}

/** The process that opened an accepted link: one that serves the API, or the host with this public key. */
export type LinkPeer = 'api' | { readonly publicKey: string };

const PSK_BYTES = 32;
const API_LINK_PURPOSE = 'links from the API';
const HOST_LINK_PURPOSE = 'links between hosts';
/** The first bytes of an X25519 private key in PKCS #8; the 32 bytes of the key follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

interface KeyPair {
  readonly privateKey: KeyObject;
  /** The public key in base64url. */
  readonly publicKey: string;
}

function createKeyPair({ bytes }: Key): KeyPair {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, bytes]), format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: String(createPublicKey(privateKey).export({ format: 'jwk' }).x) };
}

/**
 * Derives a key that two hosts share and that other hosts cannot derive. `peer`, `caller` and `called` are public keys.
 */
function deriveSharedKey(own: KeyPair, peer: string, caller: string, called: string): Buffer {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: peer }, format: 'jwk' });
  const secret = diffieHellman({ privateKey: own.privateKey, publicKey });
  return Buffer.from(hkdfSync('sha256', secret, '', `${HOST_LINK_PURPOSE} ${caller} ${called}`, PSK_BYTES));
}

/** Returns the credentials with which a process that serves the API opens links to a host. */
export function apiCredentials(sealer: Sealer, host: string): LinkCredentials {
  const [{ id, bytes }] = sealer.sealerForHost(host).deriveKeys(API_LINK_PURPOSE);
  return { identity: `api.${id}`, psk: bytes };
}

/**
 * The link keys of a host. They are derived from the host's key, so a host can prove its identity but cannot
 * impersonate another host or the API.
 */
export class HostLinkKeys {
  readonly #apiKeys: readonly Key[];
  readonly #own: readonly [KeyPair, ...KeyPair[]];

  constructor(sealer: Sealer) {
    this.#apiKeys = sealer.deriveKeys(API_LINK_PURPOSE);
    const [first, ...others] = sealer.deriveKeys(HOST_LINK_PURPOSE);
    this.#own = [createKeyPair(first), ...others.map(createKeyPair)];
  }

  /** The public key that the host publishes, in base64url. */
  get publicKey(): string {
    return this.#own[0].publicKey;
  }

  /** Returns the credentials for a link to the host with this public key. */
  credentialsFor(peer: string): LinkCredentials {
    const [own] = this.#own;
    return { identity: `host.${own.publicKey}.${peer}`, psk: deriveSharedKey(own, peer, own.publicKey, peer) };
  }

  /**
   * Returns the pre-shared key of an incoming link, and the peer that a successful handshake authenticates; undefined
   * for unknown identities.
   */
  accept(identity: string): { readonly psk: Buffer; readonly peer: LinkPeer } | undefined {
    const [kind, caller = '', called] = identity.split('.');
    if (kind === 'api') {
      const key = this.#apiKeys.find(({ id }) => id === caller);
      return key && { psk: key.bytes, peer: 'api' };
    }
    const own = kind === 'host' ? this.#own.find(({ publicKey }) => publicKey === called) : undefined;
    if (!own || !/^[\w-]{43}$/.test(caller)) return undefined;
    return { psk: deriveSharedKey(own, caller, caller, own.publicKey), peer: { publicKey: caller } };
  }
}
