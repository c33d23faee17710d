/** Joins key parts into one string. Different lists of parts never produce the same string. */
export function compoundKey(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
