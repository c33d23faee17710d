const YES = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/** Whether a property of an image, or an extra spec, says yes: in any of the ways that there are. */
export function isYes(text: string | undefined): boolean {
  return text !== undefined && YES.has(text.trim().toLowerCase());
}
