const YES = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/** Whether a property of an image or an extra spec is a yes, in any of the ways to say so; what is not there is none. */
export function isYes(text: string | undefined): boolean {
  return text !== undefined && YES.has(text.trim().toLowerCase());
}
