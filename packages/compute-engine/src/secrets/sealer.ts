import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { randomBytes } from '@apistrata/record-store';
import { EngineError } from '../errors/engine-error.js';
import { SecretKeyError } from './secret-key-error.js';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Thrown if an encrypted value cannot be decrypted, because this process lacks its key or the value was changed. */
export class SealError extends EngineError<'DECRYPTION_FAILED'> {
  constructor(message: string, options?: ErrorOptions) {
    super('DECRYPTION_FAILED', message, options);
  }
}

/** A key and its id. */
export interface Key {
  /** The prefix of values that were encrypted with the key; does not reveal the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A key in imported form. Importing the bytes at every use would take longer than encrypting a short string. */
interface SealingKey extends Key {
  readonly imported: KeyObject;
}

/** Generates a secret key in the format of settings and key files. */
export function generateSecretKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

function parseKey(text: string): SealingKey {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
  if (bytes.length !== KEY_BYTES || !(isHex || /^[\w+/-]{43}=?$/.test(text)))
    throw new SecretKeyError(
      'a secret key must be 32 bytes in base64, or 64 hexadecimal digits: openssl rand -base64 32',
    );
  return {
    id: createHash('sha256').update('key id').update(bytes).digest('hex').slice(0, 8),
    bytes,
    imported: createSecretKey(bytes),
  };
}

/**
 * Encrypts secrets with AES-256-GCM before they are stored in a database. Each value is bound to the record that
 * contains it, so that it cannot be decrypted as part of another record. The first key encrypts and all keys decrypt,
 * which allows rotation.
 */
export class Sealer {
  readonly #keys: readonly [SealingKey, ...SealingKey[]];

  /**
   * @param keys 32 bytes each, in base64 or hexadecimal digits
   * @throws {@link SecretKeyError} if a key is invalid
   */
  constructor(keys: readonly string[]) {
    const [first, ...others] = keys.map(parseKey);
    if (!first) throw new SecretKeyError('the secret key is missing');
    this.#keys = [first, ...others];
  }

  /**
   * Derives keys for another purpose, one from each key and in the same order. They do not reveal the original keys.
   */
  deriveKeys(purpose: string): readonly [Key, ...Key[]] {
    const derive = ({ id, bytes }: Key): Key => ({
      id,
      bytes: Buffer.from(hkdfSync('sha256', bytes, '', purpose, KEY_BYTES)),
    });
    const [first, ...others] = this.#keys;
    return [derive(first), ...others.map(derive)];
  }

  /**
   * Derives the keys of a host, one from each key of this sealer and in the same order. Returns them in the format of
   * settings and key files.
   */
  deriveHostKeys(host: string): readonly string[] {
    return this.deriveKeys(`host ${host}`).map(({ bytes }) => bytes.toString('base64'));
  }

  /**
   * Returns the sealer of a host. Its keys cannot decrypt values that were encrypted with the keys of this sealer or of
   * another host.
   */
  sealerForHost(host: string): Sealer {
    return new Sealer(this.deriveHostKeys(host));
  }

  /**
   * Encrypts a string.
   *
   * @param location identifies the place where the value is stored, such as the id of a job
   */
  seal(text: string, location: string): string {
    const [key] = this.#keys;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key.imported, iv).setAAD(Buffer.from(location));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${key.id}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`;
  }

  /**
   * Returns whether a value is encrypted with the first key, so that it can be decrypted after the others are removed.
   */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${this.#keys[0].id}.`);
  }

  /**
   * Decrypts a value.
   *
   * @param location the place for which the value was encrypted
   * @throws {@link SealError}
   */
  open(sealed: string, location: string): string {
    const [id, content = ''] = sealed.split('.');
    const key = this.#keys.find((candidate) => candidate.id === id);
    if (!key)
      throw new SealError(
        `the value is encrypted with the secret key ${id}, which this process does not have (secretKey, secretKeyFile)`,
      );
    const bytes = Buffer.from(content, 'base64');
    const contentStart = IV_BYTES + TAG_BYTES;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.imported, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(location))
        .setAuthTag(bytes.subarray(IV_BYTES, contentStart));
      return Buffer.concat([decipher.update(bytes.subarray(contentStart)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SealError('the encrypted value has been changed', { cause });
    }
  }
}
