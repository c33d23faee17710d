const YES = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/** Returns whether an image property or extra spec has any of the spellings of true; false if it is undefined. */
export function isTruthyString(text: string | undefined): boolean {
  return text !== undefined && YES.has(text.trim().toLowerCase());
}
