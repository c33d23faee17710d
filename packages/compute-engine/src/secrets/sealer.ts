import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { randomBytes } from '@apistrata/record-store';
import { EngineError } from '../errors/engine-error.js';
import { SecretKeyError } from './secret-key-error.js';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Something that is sealed cannot be opened: its key is not among those of this process, or it was changed. */
export class SealError extends EngineError<'SEAL'> {
  constructor(message: string, options?: ErrorOptions) {
    super('SEAL', message, options);
  }
}

/** A key, and what it is called. */
export interface Key {
  /** Stands in front of what the key has sealed; tells nothing of the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A new key, as it is written in settings and files. */
export function newSecretKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

function keyFrom(text: string): Key {
  const hex = /^[0-9a-f]{64}$/i.test(text);
  const bytes = Buffer.from(text, hex ? 'hex' : 'base64');
  if (bytes.length !== KEY_BYTES || !(hex || /^[\w+/-]{43}=?$/.test(text)))
    throw new SecretKeyError('a secret key is 32 bytes in base64, or 64 hexadecimal digits: openssl rand -base64 32');
  return { id: createHash('sha256').update('key id').update(bytes).digest('hex').slice(0, 8), bytes };
}

/**
 * Seals what must not stand in a database in the clear: AES-256-GCM, bound to the place where it is kept, so that it
 * opens nowhere else. The first key seals and all of them open, which is how a key is replaced by another.
 */
export class Sealer {
  readonly #keys: readonly [Key, ...Key[]];

  /** @param keys 32 bytes each, in base64 or hexadecimal digits. Throws {@link SecretKeyError} for anything else. */
  constructor(keys: readonly string[]) {
    const [first, ...others] = keys.map(keyFrom);
    if (!first) throw new SecretKeyError('there is no secret key');
    this.#keys = [first, ...others];
  }

  /** Keys for something else than sealing, one of each key and in the same order; they tell nothing of these. */
  keysFor(purpose: string): readonly [Key, ...Key[]] {
    const derive = ({ id, bytes }: Key): Key => ({
      id,
      bytes: Buffer.from(hkdfSync('sha256', bytes, '', purpose, KEY_BYTES)),
    });
    const [first, ...others] = this.#keys;
    return [derive(first), ...others.map(derive)];
  }

  /** @param place what it belongs to, such as the id of a job */
  seal(text: string, place: string): string {
    const [key] = this.#keys;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key.bytes, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${key.id}.${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`;
  }

  /** Throws {@link SealError}. */
  open(sealed: string, place: string): string {
    const [id, content = ''] = sealed.split('.');
    const key = this.#keys.find((known) => known.id === id);
    if (!key)
      throw new SealError(
        `it is sealed with the secret key ${id}, which this process does not have (secretKey, secretKeyFile)`,
      );
    const bytes = Buffer.from(content, 'base64');
    const end = IV_BYTES + TAG_BYTES;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(IV_BYTES, end));
      return Buffer.concat([decipher.update(bytes.subarray(end)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SealError('what was sealed has been changed', { cause });
    }
  }
}
