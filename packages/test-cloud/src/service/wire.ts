/** A record or a part of it, in wire format. */
export type Wire = Readonly<Record<string, unknown>>;

/** Returns whether a value in JSON is an object, which excludes null and arrays. */
export const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
