/** A record or a part of it, in wire format. */
export type Wire = Readonly<Record<string, unknown>>;
