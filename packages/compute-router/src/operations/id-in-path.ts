import { uuid } from '../schemas/types.js';

/** The number that a path names as an id; undefined for anything else. */
export function numberIn(text: string): number | undefined {
  return /^-?\d{1,18}$/.test(text) ? Number(text) : undefined;
}

/** The UUID that a path names as an id, in its usual spelling; undefined for anything else. */
export function uuidIn(text: string): string | undefined {
  const { data } = uuid.safeParse(text);
  return data;
}
