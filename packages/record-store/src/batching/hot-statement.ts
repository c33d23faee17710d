import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { DatabaseKind, Session } from '../store/database.js';
import { type PreparedQuery, preparedQuery } from './prepared-query.js';

/**
 * Creates a function that executes a frequent statement. The statement is compiled once per database kind, and each
 * call supplies its parameters in the order in which the statement contains them.
 *
 * @param options.isBatched whether each execution already serves several callers, so that it starts without waiting for
 *   other queries
 */
export function hotStatement<R>(
  build: (session: Session) => Compilable,
  { isBatched = false }: { readonly isBatched?: boolean } = {},
) {
  const compiledByKind = new Map<DatabaseKind, PreparedQuery>();
  return (session: Session, parameters: readonly unknown[]): Promise<QueryResult<R>> => {
    let query = compiledByKind.get(session.kind);
    if (!query) {
      query = { ...preparedQuery(build(session).compile()), isBatched };
      compiledByKind.set(session.kind, query);
    }
    return session.db.executeQuery<R>({ ...query, parameters } as CompiledQuery<R>);
  };
}
