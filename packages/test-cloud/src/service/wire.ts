/** A record in JSON form. */
export type Wire = Readonly<Record<string, unknown>>;
