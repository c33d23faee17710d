import type { SqlDatabase, SqlRow, SqlValue, Statement, Steps } from './sql-database.js';

interface PostgresResult {
  readonly rows: unknown[];
}

interface PostgresClient {
  /** Several statements in one text are answered with a list. */
  query(text: string): Promise<PostgresResult | readonly PostgresResult[]>;
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

/** A `Pool` of `pg` for the SQL store. Give the pool an `error` listener: without one, a lost connection ends the process. */
export function postgres(pool: PostgresPool): SqlDatabase {
  return {
    dialect: 'postgres',
    // Each transaction has a connection of its own.
    isInTransaction: () => false,
    async transaction<T>(work: () => Steps<T>): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transact(pool, work);
        } catch (error) {
          if (attempt === MAX_ATTEMPTS || !RETRY_CODES.has(codeOf(error))) throw error;
        }
      }
    },
  };
}

async function transact<T>(pool: PostgresPool, work: () => Steps<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  // The pool listens to idle connections only: one that is lost in use would end the process. Its query fails anyway.
  const lost = () => {
    broken = true;
  };
  client.on('error', lost);
  try {
    return await drive(client, work());
  } catch (error) {
    // A connection that cannot even roll back is of no use to the next one.
    await client.query('ROLLBACK').catch(() => {
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
  const send = async () => {
    const results = [await client.query(texts.splice(0).join(';'))].flat();
    return (results.at(-1)?.rows ?? []) as SqlRow[];
  };
  let step = steps.next([]);
  while (!step.done) {
    texts.push(textOf(step.value));
    step = steps.next(step.value.returns ? await send() : []);
  }
  texts.push('COMMIT');
  await send();
  return step.value;
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
