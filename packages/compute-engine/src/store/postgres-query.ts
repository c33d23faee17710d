import { createRequire } from 'node:module';
import type { PostgresClient } from './postgres-connection.js';

/** What a server answers to one statement. */
export interface ClientResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: unknown[];
}

/** A statement of `pg` on its way. */
export interface ClientQuery {
  name?: string;
}

type QueryClass = new (
  text: string,
  values: readonly unknown[],
  done: (error: Error | null | undefined, result: ClientResult) => void,
) => ClientQuery;

let Query: QueryClass | undefined;

/**
 * Asks a connection. Descriptions of statements are copied by `pg`, property by property, each time: it is given a
 * statement of its own kind.
 * @param name under which the connection keeps the statement
 */
export function ask(
  client: PostgresClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<ClientResult> {
  Query ??= createRequire(import.meta.url)('pg').Query as QueryClass;
  const Statement = Query;
  return new Promise((resolve, reject) => {
    const query = new Statement(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    query.name = name;
    client.query(query);
  });
}
