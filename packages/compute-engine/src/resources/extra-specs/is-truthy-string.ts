const TRUE_STRINGS = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/**
 * Returns whether an image property or extra spec is a spelling of true, such as `yes` or `1`. Returns false for
 * undefined.
 */
export function isTruthyString(text: string | undefined): boolean {
  return text !== undefined && TRUE_STRINGS.has(text.trim().toLowerCase());
}
