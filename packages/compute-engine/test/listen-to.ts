import type { CompiledQuery, Kysely } from 'kysely';

/** A recorded query, with the name of its database. */
export interface RecordedQuery<Name extends string = string> {
  readonly db: Name;
  readonly query: CompiledQuery;
}

/** Records the queries of a database. */
export function listenTo<Name extends string>(db: Kysely<any>, name: Name, requested: RecordedQuery<Name>[]): void {
  const executor = db.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query, ...rest) => {
    requested.push({ db: name, query });
    return execute(query, ...rest);
  };
}
