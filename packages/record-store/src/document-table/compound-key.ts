/** Joins the parts of a key so that different lists of parts never result in the same string. */
export function compoundKey(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
