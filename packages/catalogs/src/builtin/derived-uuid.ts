import { createHash } from 'node:crypto';

/** Returns a UUID derived from a string. The same string always results in the same UUID. */
export function derivedUuid(text: string): string {
  const hex = createHash('sha1').update(`apistrata/${text}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
