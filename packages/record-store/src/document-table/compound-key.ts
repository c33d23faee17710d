/**
 * Joins key parts into one string. Different lists of parts never produce the same string, except that unpaired
 * surrogates, which databases cannot store, are replaced.
 */
export function compoundKey(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}
