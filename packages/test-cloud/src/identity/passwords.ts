import { randomBytes, type ScryptOptions, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const BLOCK_SIZE = 8;

function scryptOptions(cost: number): ScryptOptions {
  // The default memory limit of scrypt is too low for a cost of 2^15.
  return { N: cost, r: BLOCK_SIZE, p: 1, maxmem: 2 ** 20 + 256 * BLOCK_SIZE * cost };
}

const encodeHash = (cost: number, salt: Buffer, key: Buffer) =>
  ['scrypt', cost, salt.toString('base64url'), key.toString('base64url')].join('$');

function deriveKey(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, scryptOptions(cost), (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** Hashes passwords and other secrets that clients send. A hash contains its salt and cost, so that the cost can change. */
export class Passwords {
  readonly #cost: number;

  /** @param cost the scrypt parameter N, a power of 2; time and memory are proportional to the cost */
  constructor(cost: number) {
    this.#cost = cost;
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    return encodeHash(this.#cost, salt, await deriveKey(password, salt, this.#cost));
  }

  /** Like `hash`, but synchronous. */
  hashSync(password: string): string {
    const salt = randomBytes(SALT_BYTES);
    return encodeHash(this.#cost, salt, scryptSync(password, salt, KEY_BYTES, scryptOptions(this.#cost)));
  }

  /** Returns whether a password matches a hash. Takes the same time without a hash, to hide whether a user exists. */
  async matches(password: string, hash: string | null | undefined): Promise<boolean> {
    const [name, cost, salt = '', key = ''] = hash?.split('$') ?? [];
    if (name !== 'scrypt') {
      await deriveKey(password, Buffer.alloc(SALT_BYTES), this.#cost);
      return false;
    }
    const expectedKey = Buffer.from(key, 'base64url');
    const actualKey = await deriveKey(password, Buffer.from(salt, 'base64url'), Number(cost));
    return actualKey.length === expectedKey.length && timingSafeEqual(actualKey, expectedKey);
  }
}
