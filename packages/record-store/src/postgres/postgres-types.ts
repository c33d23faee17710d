/** The functions of `pg` that parse values, by type identifier. */
export interface TypeParsers {
  getTypeParser(type: number, format: string): (text: string) => unknown;
}

/** PostgreSQL's object identifier for the type `bigint`. */
const BIGINT_TYPE_ID = 20;

/**
 * Returns the `pg` parsers, except that 64-bit integers become numbers instead of strings. All stored values are below
 * 2^53.
 */
export function typeParsers({ types }: { readonly types: TypeParsers }): TypeParsers {
  return { getTypeParser: (type, format) => (type === BIGINT_TYPE_ID ? Number : types.getTypeParser(type, format)) };
}
