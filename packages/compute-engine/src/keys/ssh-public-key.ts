import { ECDH } from 'node:crypto';
import { fingerprint } from './fingerprint.js';
import { InvalidKey } from './invalid-key.js';
import { readSshFields } from './ssh-wire.js';

/** Properties of a public key in OpenSSH format. */
export interface SshPublicKey {
  /** The name of the algorithm in the key: `ssh-rsa`, `ssh-ed25519`, ... */
  readonly type: string;
  readonly bits: number;
  /** MD5 digest, as hexadecimal pairs joined by colons. */
  readonly fingerprint: string;
}

/**
 * Returns the size in bits of a key with the given fields (without the type); undefined if they are not a valid key.
 */
type BitsOf = (fields: readonly Buffer[]) => number | undefined;

const DSA_BITS = 1024;
const DSA_ORDER_BITS = 160;

const KEY_TYPES: ReadonlyMap<string, BitsOf> = new Map(
  Object.entries({
    'ssh-rsa': rsaBits,
    'ssh-dss': dsaBits,
    'ecdsa-sha2-nistp256': pointBits('nistp256', 'prime256v1', 256),
    'ecdsa-sha2-nistp384': pointBits('nistp384', 'secp384r1', 384),
    'ecdsa-sha2-nistp521': pointBits('nistp521', 'secp521r1', 521),
    'ssh-ed25519': ed25519Bits,
    'sk-ecdsa-sha2-nistp256@openssh.com': securityKeyBits(pointBits('nistp256', 'prime256v1', 256)),
    'sk-ssh-ed25519@openssh.com': securityKeyBits(ed25519Bits),
  }),
);

/**
 * Parses a public key in OpenSSH format: `TYPE BASE64 [COMMENT]`. Supports RSA, DSA, ECDSA and Ed25519 keys, including
 * those of security keys.
 *
 * @throws InvalidKey
 */
export function parseSshPublicKey(text: string): SshPublicKey {
  const match = /^([^\s]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?=\s|$)/.exec(text);
  if (!match) throw new InvalidKey('a public key must have the form "TYPE BASE64 COMMENT"');
  const [, type, base64] = match as unknown as [string, string, string];
  const bitsOf = KEY_TYPES.get(type);
  if (!bitsOf) throw new InvalidKey('the type of the public key is unknown');
  const blob = Buffer.from(base64, 'base64');
  const fields = base64.length % 4 === 0 ? readSshFields(blob) : undefined;
  if (!fields || fields[0]?.toString('latin1') !== type) throw new InvalidKey(`the key is not of the type ${type}`);
  const bits = bitsOf(fields.slice(1));
  if (bits === undefined) throw new InvalidKey(`the ${type} key contains invalid numbers`);
  return { type, bits, fingerprint: fingerprint('md5', blob) };
}

function rsaBits(fields: readonly Buffer[]): number | undefined {
  const numbers = parsePositiveIntegers(fields, 2);
  if (!numbers) return undefined;
  const [exponent, modulus] = numbers as [bigint, bigint];
  const isValid = exponent >= 3n && exponent % 2n === 1n && modulus % 2n === 1n && exponent < modulus;
  return isValid ? bitLength(modulus) : undefined;
}

function dsaBits(fields: readonly Buffer[]): number | undefined {
  const numbers = parsePositiveIntegers(fields, 4);
  if (!numbers) return undefined;
  const [prime, order, generator, key] = numbers as [bigint, bigint, bigint, bigint];
  const hasStandardSizes = bitLength(prime) === DSA_BITS && bitLength(order) === DSA_ORDER_BITS;
  return hasStandardSizes && generator > 1n && generator < prime && key > 1n && key < prime ? DSA_BITS : undefined;
}

function pointBits(curve: string, name: string, bits: number): BitsOf {
  const length = 1 + 2 * Math.ceil(bits / 8);
  return (fields) => {
    const [keyCurve, point] = fields;
    if (fields.length !== 2 || keyCurve?.toString('latin1') !== curve) return undefined;
    if (point?.length !== length || point[0] !== 4) return undefined;
    try {
      ECDH.convertKey(point, name);
      return bits;
    } catch {
      // The point is not on the curve.
      return undefined;
    }
  };
}

function ed25519Bits(fields: readonly Buffer[]): number | undefined {
  return fields.length === 1 && fields[0]?.length === 32 ? 256 : undefined;
}

/** Adapts a function to hardware security keys, whose public keys have an application as an additional last field. */
function securityKeyBits(bitsOf: BitsOf): BitsOf {
  return (fields) => {
    const application = fields.at(-1);
    return fields.length > 1 && application?.length ? bitsOf(fields.slice(0, -1)) : undefined;
  };
}

function parsePositiveIntegers(fields: readonly Buffer[], count: number): readonly bigint[] | undefined {
  if (fields.length !== count || fields.some((field) => field.length === 0 || field.readUInt8() >= 0x80))
    return undefined;
  return fields.map((field) => BigInt(`0x${field.toString('hex')}`));
}

function bitLength(number: bigint): number {
  return number.toString(2).length;
}
