import { randomFillSync, randomUUID } from 'node:crypto';

/** The names of the built-in id formats. */
export type IdFormat = 'uuid' | 'uuidv7' | 'short';

/**
 * Random bytes for many ids. A call to the system's random generator for each id would take more time than all other
 * work for the id.
 */
const RANDOM_POOL = Buffer.allocUnsafe(4_096);
let usedBytes = RANDOM_POOL.length;

function randomBytes(count: number): Buffer {
  if (usedBytes + count > RANDOM_POOL.length) {
    randomFillSync(RANDOM_POOL);
    usedBytes = 0;
  }
  usedBytes += count;
  return RANDOM_POOL.subarray(usedBytes - count, usedBytes);
}

/** Returns random bytes as lower-case hexadecimal digits. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/**
 * Returns a UUID of version 7 (RFC 9562): its first 48 bits are the time in milliseconds, so ids sort by creation time.
 */
function uuidv7(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomHex(10);
  // The variant, `10`, is the first two bits of this digit; its other two bits are random.
  const variant = '89ab'[Number.parseInt(random[3] ?? '0', 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

/** The number of ids after which a new random prefix is generated, so that ids stay short. */
const IDS_PER_PREFIX = 2 ** 31 - 1;

/**
 * Returns a generator of short ids, which consist of a random 96-bit prefix and a counter. They are unique, but can be
 * guessed.
 */
function createShortIdGenerator(): () => string {
  let prefix = '';
  let count = IDS_PER_PREFIX;
  return () => {
    if (count === IDS_PER_PREFIX) {
      prefix = `${randomBytes(12).toString('base64url')}-`;
      count = 0;
    }
    count += 1;
    return prefix + count.toString(36);
  };
}

/** The built-in id generators by format name. */
export const GENERATORS: Readonly<Record<IdFormat, () => string>> = {
  uuid: randomUUID,
  uuidv7,
  short: createShortIdGenerator(),
};
