import { loadPg } from './load-pg.js';
import { type ClientQuery, type ClientResult, createNamedStatementClass, type QueryClass } from './named-statement.js';
import { typeParsers } from './postgres-types.js';

/** The part of a `pg` client that this package uses. */
export interface PostgresClient {
  query(query: ClientQuery): unknown;
  release(destroy: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  readonly connection?: { readonly stream?: { cork(): void; uncork(): void } };
}

interface StatementClasses {
  readonly Unnamed: QueryClass;
  readonly Named: QueryClass;
}

let statementClasses: StatementClasses | undefined;

function createStatementClasses(): StatementClasses {
  const pg = loadPg(import.meta.url);
  return { Unnamed: pg.Query, Named: createNamedStatementClass(pg.Query, typeParsers(pg)) };
}

/**
 * Executes a statement with a custom query object, because `pg` copies the properties of other query objects each time.
 * @param name the name of the prepared statement; if omitted, the statement is not prepared
 */
export function executeStatement(
  client: PostgresClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<ClientResult> {
  statementClasses ??= createStatementClasses();
  const StatementClass = name === undefined ? statementClasses.Unnamed : statementClasses.Named;
  return new Promise((resolve, reject) => {
    const query = new StatementClass(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    query.name = name;
    client.query(query);
  });
}
