import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { DatabaseKind, Session } from '../store/database.js';
import { preparedQuery } from './prepared-query.js';

/**
 * Creates a frequent statement: compiled once per kind of database, and then executed with other parameters, in the
 * order in which the builder names them.
 */
export function hotStatement<R>(build: (session: Session) => Compilable) {
  const compiled = new Map<DatabaseKind, CompiledQuery>();
  return (session: Session, parameters: readonly unknown[]): Promise<QueryResult<R>> => {
    let query = compiled.get(session.kind);
    if (!query) {
      query = preparedQuery(build(session).compile());
      compiled.set(session.kind, query);
    }
    return session.db.executeQuery<R>({ ...query, parameters } as CompiledQuery<R>);
  };
}
