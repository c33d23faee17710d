import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { fingerprint } from './fingerprint.js';
import { encodeSshInteger, writeSshFields } from './ssh-wire.js';

/** A generated key pair. The private key is returned once and not stored. */
export interface GeneratedKeypair {
  readonly publicKey: string;
  readonly privateKey: string;
  readonly fingerprint: string;
}

/**
 * Generates an RSA key pair of 2048 bits without blocking the event loop.
 *
 * @returns the public key in OpenSSH format, the private key in the traditional PEM format of RSA (PKCS#1)
 *
 * @example
 * ```ts
 * import { generateSshKeypair, parseSshPublicKey } from '@apistrata/compute-engine/keys';
 *
 * const { publicKey } = await generateSshKeypair();
 * const { fingerprint } = parseSshPublicKey(publicKey);
 * ```
 */
export async function generateSshKeypair(): Promise<GeneratedKeypair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const { e, n } = publicKey.export({ format: 'jwk' }) as { readonly e: string; readonly n: string };
  const toSshInteger = (text: string) => encodeSshInteger(Buffer.from(text, 'base64url'));
  const blob = writeSshFields(Buffer.from('ssh-rsa'), toSshInteger(e), toSshInteger(n));
  return {
    publicKey: `ssh-rsa ${blob.toString('base64')} Generated-by-Nova`,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
    fingerprint: fingerprint('md5', blob),
  };
}
