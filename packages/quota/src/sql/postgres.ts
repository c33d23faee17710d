import { createHash } from 'node:crypto';
import { codeOf, retryOnConflict } from './retry-on-conflict.js';
import type { SqlDatabase, SqlResult, SqlValue, Statement, Steps } from './sql-database.js';

interface PostgresResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

/** A query with separate parameters. PostgreSQL parses a named query once per connection. */
interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

interface PostgresClient {
  /** Resolves to a list of results if the string contains several statements. */
  query(query: string | PostgresQuery): Promise<PostgresResult | readonly PostgresResult[]>;
  release(error?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

/** The part of a `pg` `Pool` that the store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
}

/**
 * Error codes for prepared statements that are missing or already exist, because a connection pooler has changed the
 * session.
 */
const SESSION_CHANGED_CODES = new Set(['26000', '42P05']);

/**
 * Adapts a `pg` `Pool` to the SQL store. Add an `error` listener to the pool: without one, a lost connection ends
 * the process.
 */
export function postgres(pool: PostgresPool): SqlDatabase {
  const namesBySql = new Map<string, string>();
  let ownsSessions = true;

  function query(text: string, values: readonly SqlValue[]): PostgresQuery {
    if (!ownsSessions) return { text, values };
    let name = namesBySql.get(text);
    if (!name) {
      // The name contains a digest of the SQL text, so that it cannot collide with statements that other code prepares
      // in the session.
      name = `apistrata_quota_${createHash('sha1').update(text).digest('hex')}`;
      namesBySql.set(text, name);
    }
    return { name, text, values };
  }

  return {
    dialect: 'postgres',
    // The caller's transactions run on other connections, because each transaction of the store uses its own.
    isInTransaction: () => false,
    transaction: (work) =>
      retryOnConflict(() => withConnection(pool, 'ROLLBACK', (client) => runSteps(client, work()))),
    query: (text, parameters) =>
      retryOnConflict(async () => {
        // If a single statement fails, there is no transaction to roll back.
        const send = () =>
          withConnection(pool, 'SELECT 1', async (client) => resultOf(await client.query(query(text, parameters()))));
        try {
          return await send();
        } catch (error) {
          if (!ownsSessions || !SESSION_CHANGED_CODES.has(codeOf(error))) throw error;
          ownsSessions = false;
          return send();
        }
      }),
  };
}

/**
 * Runs work on a connection from the pool.
 *
 * @param recoveryStatement the statement that makes the connection usable again after a failure
 */
async function withConnection<T>(
  pool: PostgresPool,
  recoveryStatement: string,
  work: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  // The pool listens only for errors of idle connections. Without this listener, the loss of the connection would end
  // the process. The query in progress also fails.
  const onError = () => {
    isBroken = true;
  };
  client.on('error', onError);
  try {
    return await work(client);
  } catch (error) {
    // If the recovery fails, the connection cannot be reused.
    await client.query(recoveryStatement).catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(isBroken);
  }
}

/**
 * Runs a transaction with one round trip for each query, and at most one more: statements without a result, `BEGIN` and
 * `COMMIT` are sent together with a query, in one string.
 */
async function runSteps<T>(client: PostgresClient, steps: Steps<T>): Promise<T> {
  const statementTexts = ['BEGIN'];
  const send = async () => resultOf(await client.query(statementTexts.splice(0).join(';'))).rows;
  let step = steps.next([]);
  while (!step.done) {
    statementTexts.push(textOf(step.value));
    step = steps.next(step.value.returns ? await send() : []);
  }
  statementTexts.push('COMMIT');
  await send();
  return step.value;
}

/** Returns the result of the last statement. */
function resultOf(result: PostgresResult | readonly PostgresResult[]): SqlResult {
  const lastResult = Array.isArray(result) ? result.at(-1) : result;
  return { rows: lastResult?.rows ?? [], count: lastResult?.rowCount ?? 0 };
}

/** Replaces the parameters of a statement with literals, because a string of several statements cannot have parameters. */
function textOf({ sql, parameters }: Statement): string {
  const values = parameters.values();
  // The store's statements contain no question marks other than parameters.
  return sql.replace(/\?/g, () => sqlLiteral(values.next().value ?? null));
}

/**
 * Formats a value as an SQL literal that PostgreSQL parses identically under all settings. Strings in the store never
 * contain NUL.
 */
function sqlLiteral(value: SqlValue): string {
  if (typeof value !== 'string') return String(value);
  const quotedText = `'${value.replaceAll("'", "''")}'`;
  return value.includes('\\') ? ` E${quotedText.replaceAll('\\', '\\\\')}` : quotedText;
}
