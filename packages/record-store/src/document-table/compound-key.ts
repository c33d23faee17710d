/** Joins the parts of a key so that no two different lists of parts give the same text. */
export function compoundKey(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
