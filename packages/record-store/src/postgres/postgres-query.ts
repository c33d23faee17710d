import { createRequire } from 'node:module';

/** What a server answers to one statement. */
export interface ClientResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: unknown[];
}

/** A statement of `pg` on its way. */
interface ClientQuery {
  name?: string;
}

/** What is used of a connection of `pg`. */
export interface PostgresClient {
  query(query: ClientQuery): unknown;
  release(destroy: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  readonly connection?: { readonly stream?: { cork(): void; uncork(): void } };
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
