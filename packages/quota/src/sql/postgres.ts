import type { SqlDatabase, SqlRow, Steps } from './sql-database.js';

interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
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
    await client.query('BEGIN');
    const result = await drive(client, work());
    await client.query('COMMIT');
    return result;
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

async function drive<T>(client: PostgresClient, steps: Steps<T>): Promise<T> {
  let step = steps.next([]);
  while (!step.done) {
    const { sql, parameters } = step.value;
    const { rows } = await client.query(numbered(sql), [...parameters]);
    step = steps.next(rows as SqlRow[]);
  }
  return step.value;
}

const numberedTexts = new Map<string, string>();

/** `?` as `$1`, `$2`, ... Statements of the store are few and hold no other question marks. */
function numbered(sql: string): string {
  let text = numberedTexts.get(sql);
  if (text === undefined) {
    let position = 0;
    text = sql.replace(/\?/g, () => `$${++position}`);
    numberedTexts.set(sql, text);
  }
  return text;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
