import { existsSync } from 'node:fs';
import { openDatabase, openSqlite } from '@apistrata/record-store';
import { databaseError } from '@apistrata/record-store/errors';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { CompiledQuery } from 'kysely';
import { OperatingError } from './operating-error.js';

/** Something that only reads a database, beside those who work with it. */
export interface DatabaseReader {
  readonly kind: 'sqlite' | 'postgres';
  /** Rows of a statement without parameters. */
  rows(sql: string): Promise<readonly Record<string, any>[]>;
  close(): Promise<void>;
}

/** Questions of operators may take long; locks of others are waited for. */
const LOCK_WAIT_MS = 10_000;

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** @throws OperatingError when there is no such file */
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
    throw new OperatingError(`there is no database ${url}: name the one that the server uses (--db)`);
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

/** The row of a statement that always has one, such as a count. */
export async function onlyRow({ rows }: DatabaseReader, sql: string): Promise<Record<string, any>> {
  const [row] = await rows(sql);
  if (!row) throw new Error(`no row of: ${sql}`);
  return row;
}

/** Names of the changes of the tables that a database has, oldest first; none for one that was never used. */
export async function changesIn({ kind, rows }: DatabaseReader): Promise<readonly string[]> {
  const table =
    kind === 'sqlite'
      ? `select 1 from sqlite_schema where name = 'kysely_migration'`
      : `select 1 where to_regclass('kysely_migration') is not null`;
  if ((await rows(table)).length === 0) return [];
  return (await rows('select name from kysely_migration order by name')).map(({ name }) => String(name));
}
