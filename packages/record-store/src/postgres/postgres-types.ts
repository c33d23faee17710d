/** Functions that parse the values of a type, by the id of the type. */
export interface TypeParsers {
  getTypeParser(type: number, format: string): (text: string) => unknown;
}

/** PostgreSQL's id of the type `bigint`. */
const BIGINT = 20;

/** Returns the `pg` parsers, but parses 64-bit integers to numbers instead of strings: all stored values are below 2^53. */
export function typeParsers({ types }: { readonly types: TypeParsers }): TypeParsers {
  return { getTypeParser: (type, format) => (type === BIGINT ? Number : types.getTypeParser(type, format)) };
}
