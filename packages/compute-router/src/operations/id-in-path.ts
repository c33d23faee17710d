import { uuid } from '../schemas/types.js';

/** Parses a numeric id in a path. Returns undefined if it is malformed. */
export function parseNumericId(text: string): number | undefined {
  return /^-?\d{1,18}$/.test(text) ? Number(text) : undefined;
}

/** Parses a UUID in a path and returns it in canonical form. Returns undefined if it is malformed. */
export function parseUuid(text: string): string | undefined {
  const { data } = uuid.safeParse(text);
  return data;
}
