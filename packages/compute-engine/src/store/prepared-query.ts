import type { CompiledQuery } from 'kysely';

/** A statement that comes again and again with other parameters. */
export interface PreparedQuery extends CompiledQuery {
  /** Under which a connection of PostgreSQL keeps it, parsed and planned. */
  readonly preparedName: string;
}

const names = new Map<string, string>();

/** Has databases keep a statement. Only for texts of the program's own, of which there is an end. */
export function preparedQuery(query: CompiledQuery): PreparedQuery {
  let preparedName = names.get(query.sql);
  if (preparedName === undefined) names.set(query.sql, (preparedName = `hot_${names.size}`));
  return { ...query, preparedName };
}
