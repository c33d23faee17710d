import { randomFillSync, randomUUID } from 'node:crypto';

/** Names of the ready-made forms of ids. */
export type IdForm = 'uuid' | 'uuidv7' | 'short';

/** Random bytes are drawn for many ids at once: a call of the system's generator costs more than an id. */
const POOL = Buffer.allocUnsafe(4_096);
let used = POOL.length;

function randomBytes(count: number): Buffer {
  if (used + count > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  used += count;
  return POOL.subarray(used - count, used);
}

/** Returns lower-case hexadecimal digits of that many random bytes. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** Returns a UUID of version 7 (RFC 9562): its first 48 bits are the time in milliseconds, so ids sort by their creation. */
function uuidv7(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomHex(10);
  // Two bits of the variant, `10`, leave two random bits of their digit.
  const variant = '89ab'[Number.parseInt(random[3] ?? '0', 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

/** The number of ids with one prefix; after that, a new prefix is generated, so that ids stay short. */
const IDS_PER_PREFIX = 2 ** 31 - 1;

/** Returns a generator of short ids: a random prefix of 96 bits and a number. They are unique, but can be guessed. */
function shortIds(): () => string {
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

/** The ready-made generators by the names of their forms. */
export const GENERATORS: Readonly<Record<IdForm, () => string>> = { uuid: randomUUID, uuidv7, short: shortIds() };
