import { loadPg } from './load-pg.js';
import { type ClientQuery, type ClientResult, namedStatements, type QueryClass } from './named-statement.js';
import { typeParsers } from './postgres-types.js';

/** The part of a `pg` client that this package uses. */
export interface PostgresClient {
  query(query: ClientQuery): unknown;
  release(destroy: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  readonly connection?: { readonly stream?: { cork(): void; uncork(): void } };
}

interface Statements {
  readonly Unnamed: QueryClass;
  readonly Named: QueryClass;
}

let statements: Statements | undefined;

function loadStatements(): Statements {
  const pg = loadPg(import.meta.url);
  return { Unnamed: pg.Query, Named: namedStatements(pg.Query, typeParsers(pg)) };
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
  statements ??= loadStatements();
  const Statement = name === undefined ? statements.Unnamed : statements.Named;
  return new Promise((resolve, reject) => {
    const query = new Statement(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    query.name = name;
    client.query(query);
  });
}
