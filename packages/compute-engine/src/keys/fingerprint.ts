import { createHash } from 'node:crypto';

/** Formats a fingerprint as clients show it: pairs of lower-case hex digits joined by colons. */
export function fingerprint(algorithm: 'md5' | 'sha1', data: Uint8Array): string {
  return createHash(algorithm).update(data).digest('hex').replace(/..\B/g, '$&:');
}
