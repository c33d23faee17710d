import { uuid } from '../schemas/types.js';

/** Parses a numeric id in a path; undefined for anything else. */
export function numberIn(text: string): number | undefined {
  return /^-?\d{1,18}$/.test(text) ? Number(text) : undefined;
}

/** Parses a UUID in a path and returns it in canonical form; undefined for anything else. */
export function uuidIn(text: string): string | undefined {
  const { data } = uuid.safeParse(text);
  return data;
}
