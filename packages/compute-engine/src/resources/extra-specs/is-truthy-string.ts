const TRUE_STRINGS = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/** Returns whether an image property or extra spec has one of the spellings of true; false if it is undefined. */
export function isTruthyString(text: string | undefined): boolean {
  return text !== undefined && TRUE_STRINGS.has(text.trim().toLowerCase());
}
