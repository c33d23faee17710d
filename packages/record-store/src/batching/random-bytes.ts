import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Returns a few cryptographically secure random bytes. They are copied from a buffer, because a system call for every
 * few bytes would be expensive. No bytes are returned twice.
 */
export function randomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.alloc(count);
  pool.copy(bytes, 0, used, used + count);
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
