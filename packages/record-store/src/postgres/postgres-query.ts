import { loadPg } from './load-pg.js';

/** The result of one statement. */
export interface ClientResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: unknown[];
}

/** A statement that `pg` is executing. */
interface ClientQuery {
  name?: string;
}

/** The required members of a `pg` connection. */
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
 * Executes a statement. `pg` copies the properties of query objects each time, so it gets a custom query object.
 * @param name name of the prepared statement on the connection
 */
export function request(
  client: PostgresClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<ClientResult> {
  Query ??= loadPg(import.meta.url).Query as QueryClass;
  const Statement = Query;
  return new Promise((resolve, reject) => {
    const query = new Statement(text, values, (error, result) => (error ? reject(error) : resolve(result)));
    query.name = name;
    client.query(query);
  });
}
