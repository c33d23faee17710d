import type { CompiledQuery, Kysely } from 'kysely';

/** What a database was asked, and by which name it goes. */
export interface Asked<Name extends string = string> {
  readonly db: Name;
  readonly query: CompiledQuery;
}

/** Notes down what a database is asked. */
export function listenTo<Name extends string>(db: Kysely<any>, name: Name, asked: Asked<Name>[]): void {
  const executor = db.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query, ...rest) => {
    asked.push({ db: name, query });
    return execute(query, ...rest);
  };
}
