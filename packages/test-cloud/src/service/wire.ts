/** A record as it is in JSON. */
export type Wire = Readonly<Record<string, unknown>>;
