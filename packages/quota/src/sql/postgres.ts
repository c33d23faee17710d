import { createHash } from 'node:crypto';
import type { SqlAnswer, SqlDatabase, SqlValue, Statement, Steps } from './sql-database.js';

interface PostgresResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

/** A statement with its parameters apart; one that has a name is parsed once for each connection. */
interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

interface PostgresClient {
  /** Several statements in one text are answered with a list. */
  query(query: string | PostgresQuery): Promise<PostgresResult | readonly PostgresResult[]>;
  release(error?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

/** What the store needs of a `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
}

/** The database gave up a transaction so that another could go on: it may simply run again. */
const RETRY_CODES = new Set(['40001', '40P01']);
const MAX_ATTEMPTS = 5;

/** Behind a pooler that hands sessions on, one may lack a statement that was prepared, or have it already. */
const FOREIGN_SESSION = new Set(['26000', '42P05']);

/** A `Pool` of `pg` for the SQL store. Give the pool an `error` listener: without one, a lost connection ends the process. */
export function postgres(pool: PostgresPool): SqlDatabase {
  const names = new Map<string, string>();
  let sessionsAreOurs = true;

  function query(text: string, values: readonly SqlValue[]): PostgresQuery {
    if (!sessionsAreOurs) return { text, values };
    let name = names.get(text);
    if (!name) {
      // The same name is the same text, whoever else prepares statements in the session.
      name = `apistrata_quota_${createHash('sha1').update(text).digest('hex')}`;
      names.set(text, name);
    }
    return { name, text, values };
  }

  return {
    dialect: 'postgres',
    // Each transaction has a connection of its own.
    isInTransaction: () => false,
    transaction: (work) => persistently(() => connected(pool, 'ROLLBACK', (client) => drive(client, work()))),
    ask: (text, parameters) =>
      persistently(async () => {
        // What failed has left nothing to roll back.
        const asked = () =>
          connected(pool, 'SELECT 1', async (client) => answerOf(await client.query(query(text, parameters()))));
        try {
          return await asked();
        } catch (error) {
          if (!sessionsAreOurs || !FOREIGN_SESSION.has(codeOf(error))) throw error;
          sessionsAreOurs = false;
          return asked();
        }
      }),
  };
}

/** Runs again what the database gave up so that another could go on. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !RETRY_CODES.has(codeOf(error))) throw error;
    }
  }
}

/** @param recover what makes a connection usable again on which the work failed */
async function connected<T>(
  pool: PostgresPool,
  recover: string,
  work: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  // The pool listens to idle connections only: one that is lost in use would end the process. Its query fails anyway.
  const lost = () => {
    broken = true;
  };
  client.on('error', lost);
  try {
    return await work(client);
  } catch (error) {
    // A connection that cannot even do that is of no use to the next one.
    await client.query(recover).catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

/**
 * A whole transaction, with as few round trips as it has questions, and one more at the most: what has no answer goes out
 * together with the next question, as one text, and so do `BEGIN` and `COMMIT`.
 */
async function drive<T>(client: PostgresClient, steps: Steps<T>): Promise<T> {
  const texts = ['BEGIN'];
  const send = async () => answerOf(await client.query(texts.splice(0).join(';'))).rows;
  let step = steps.next([]);
  while (!step.done) {
    texts.push(textOf(step.value));
    step = steps.next(step.value.returns ? await send() : []);
  }
  texts.push('COMMIT');
  await send();
  return step.value;
}

/** Of the last statement. */
function answerOf(result: PostgresResult | readonly PostgresResult[]): SqlAnswer {
  const last = Array.isArray(result) ? result.at(-1) : result;
  return { rows: last?.rows ?? [], count: last?.rowCount ?? 0 };
}

/** A statement with its parameters written into it, for only one of a text may have them apart. */
function textOf({ sql, parameters }: Statement): string {
  const values = parameters.values();
  // Statements of the store hold no other question marks.
  return sql.replace(/\?/g, () => literal(values.next().value ?? null));
}

/** As PostgreSQL reads it whatever its settings are. No text of the store holds a NUL. */
function literal(value: SqlValue): string {
  if (typeof value !== 'string') return String(value);
  const quoted = `'${value.replaceAll("'", "''")}'`;
  return value.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
