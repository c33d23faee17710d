import { existsSync } from 'node:fs';
import { openDatabase, openSqlite } from '@apistrata/record-store';
import { databaseError } from '@apistrata/record-store/errors';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { CompiledQuery } from 'kysely';
import { MaintenanceError } from './maintenance-error.js';

/** Reads a database without affecting the servers that use it. */
export interface DatabaseReader {
  readonly kind: 'sqlite' | 'postgres';
  /** Returns the rows of a statement without parameters. */
  rows(sql: string): Promise<readonly Record<string, any>[]>;
  close(): Promise<void>;
}

/** Maximum wait for locks of other connections. It is long, because administrators can wait. */
const LOCK_WAIT_MS = 10_000;

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/**
 * Opens a database for reading.
 *
 * @throws MaintenanceError if the file does not exist
 */
export function openReader(url: string): DatabaseReader {
  if (isPostgres(url)) {
    const { db } = openDatabase(url, { ...defaultDatabaseSettings, poolSize: 1, statementTimeoutMs: 0 });
    return {
      kind: 'postgres',
      rows: async (sql) => (await db.executeQuery<Record<string, any>>(CompiledQuery.raw(sql))).rows,
      close: () => db.destroy(),
    };
  }
  if (!existsSync(url))
    throw new MaintenanceError(`the database ${url} does not exist: select the server's database with --db`);
  const handle = openSqlite(url, { readOnly: true });
  handle.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
  return {
    kind: 'sqlite',
    rows: async (sql) => {
      try {
        return handle.prepare(sql).all() as Record<string, any>[];
      } catch (error) {
        throw databaseError(error);
      }
    },
    close: async () => handle.close(),
  };
}

/** Returns the only row of a statement that always returns one, such as a count. */
export async function readSingleRow({ rows }: DatabaseReader, sql: string): Promise<Record<string, any>> {
  const [row] = await rows(sql);
  if (!row) throw new Error(`the statement returned no row: ${sql}`);
  return row;
}

/** Returns the names of a database's schema changes, oldest first; none for an unused database. */
export async function readChanges({ kind, rows }: DatabaseReader): Promise<readonly string[]> {
  const table =
    kind === 'sqlite'
      ? `select 1 from sqlite_schema where name = 'kysely_migration'`
      : `select 1 where to_regclass('kysely_migration') is not null`;
  if ((await rows(table)).length === 0) return [];
  return (await rows('select name from kysely_migration order by name')).map(({ name }) => String(name));
}
