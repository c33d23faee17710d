import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

const randomPool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Returns a few cryptographically secure random bytes. They are copied from a buffer, because a system call for every
 * few bytes would be expensive. No bytes are returned twice.
 */
export function randomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) {
    randomFillSync(randomPool);
    used = 0;
  }
  const bytes = Buffer.alloc(count);
  randomPool.copy(bytes, 0, used, used + count);
  randomPool.fill(0, used, used + count);
  used += count;
  return bytes;
}
