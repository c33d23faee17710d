import { existsSync } from 'node:fs';
import { copyFile, link, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  DatabaseInUse,
  openDatabase,
  openSqlite,
  postgresAddresses,
  type Rows,
  SqliteOwner,
} from '@apistrata/record-store';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { CompiledQuery, type Kysely } from 'kysely';
import { migrations } from '../schema/migrations/index.js';
import { readChangesInFile } from './backup-database.js';
import { isPostgres, openReader, readChanges } from './database-reader.js';
import { databaseStatus } from './database-status.js';
import { copyImageFiles, imageDirectoryOf } from './image-files.js';
import { MaintenanceError } from './maintenance-error.js';
import { syncToDisk } from './new-file.js';
import { runPostgresTool } from './postgres-tools.js';

/** Options for a restore. */
export interface RestoreOptions {
  /** Whether to replace an existing database. The existing database is kept under another name. */
  readonly replace: boolean;
  /** Directory that contains image content. Default: as for `createEngine`. */
  readonly imageDirectory?: string;
}

/** The result of a restore. */
export interface RestoreReport {
  /** Location of the former database; null if there was none. */
  readonly previous: string | null;
  /** Schema changes that the next start will apply. */
  readonly pending: readonly string[];
}

const REPLACE_HINT = 'use --replace, which renames the existing database, or select another database';

function timestamp(): string {
  return new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
}

async function restoreSqlite(file: string, backup: string, replace: boolean): Promise<RestoreReport> {
  const appliedChanges = await readChangesInFile(backup);
  if (appliedChanges.length === 0)
    throw new MaintenanceError(`${backup} is a SQLite database, but was not created by this software`);
  const owner = await SqliteOwner.acquire(file).catch((error: Error) => {
    if (error instanceof DatabaseInUse) throw error;
    throw new MaintenanceError(`${file} cannot be written (${error.message}): select a file in a writable folder`);
  });
  const draft = `${file}.restoring`;
  try {
    const fileExists = existsSync(file);
    if (fileExists && !replace) throw new MaintenanceError(`${file} exists: ${REPLACE_HINT}`);
    await copyFile(backup, draft);
    await syncToDisk(draft);
    const previousLocation = fileExists ? `${file}.before-${timestamp()}` : null;
    if (previousLocation) {
      // Moves the write-ahead log into the database file. Otherwise, it would be mistaken for the log of the new file.
      const formerDatabase = openSqlite(file);
      formerDatabase.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE');
      formerDatabase.close();
      await link(file, previousLocation);
    }
    for (const suffix of ['-wal', '-shm']) await rm(`${file}${suffix}`, { force: true });
    await rename(draft, file);
    await syncToDisk(dirname(file));
    return {
      previous: previousLocation,
      pending: Object.keys(migrations).filter((name) => !appliedChanges.includes(name)),
    };
  } finally {
    await rm(draft, { force: true });
    owner.release();
  }
}

/** Returns the URL of another database on the same server. */
function databaseUrl(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${encodeURIComponent(name)}`;
  return address.href;
}

/** Runs statements that cannot be part of a transaction, such as `create database`. */
async function runStatements(url: string, statements: readonly string[]): Promise<void> {
  const { db } = openDatabase(url, { ...defaultDatabaseSettings, poolSize: 1, statementTimeoutMs: 0 });
  try {
    for (const statement of statements) await executeStatement(db, statement);
  } finally {
    await db.destroy();
  }
}

async function executeStatement(db: Kysely<Rows>, statement: string): Promise<void> {
  try {
    await db.executeQuery(CompiledQuery.raw(statement));
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as { code?: string; message: string };
    if (code === '42501')
      throw new MaintenanceError(`${message}: the user needs the CREATEDB privilege and must own the database`);
    if (code === '55006') throw new MaintenanceError(`${message}: stop the servers that use it`);
    throw error;
  }
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Fills a new database, and then gives it the name of the old one. Returns the new name of the old database. */
async function replaceDatabase(url: string, fill: (url: string) => Promise<void>): Promise<string> {
  if (postgresAddresses(url).length > 1)
    throw new MaintenanceError('a database can only be replaced on one host: specify only the primary (--db)');
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const [draft, retainedName] = [`${name}_restoring_${timestamp()}`, `${name}_before_${timestamp()}`];
  const maintenanceUrl = databaseUrl(url, name === 'postgres' ? 'template1' : 'postgres');
  await runStatements(maintenanceUrl, [`create database ${quoteName(draft)}`]);
  try {
    await fill(databaseUrl(url, draft));
    await runStatements(maintenanceUrl, [
      `alter database ${quoteName(name)} rename to ${quoteName(retainedName)}`,
      `alter database ${quoteName(draft)} rename to ${quoteName(name)}`,
    ]);
  } catch (error) {
    await runStatements(maintenanceUrl, [`drop database if exists ${quoteName(draft)}`]).catch(() => {});
    throw error;
  }
  return retainedName;
}

async function readChangesAt(url: string): Promise<readonly string[]> {
  const reader = openReader(url);
  return readChanges(reader).finally(() => reader.close());
}

async function rejectIfInUse(url: string): Promise<void> {
  const { usedBy } = await databaseStatus(url);
  if (usedBy !== null) throw new MaintenanceError(`the database is in use (${usedBy}): stop the servers first`);
}

async function restorePostgres(url: string, backup: string, replace: boolean): Promise<RestoreReport> {
  if (!existsSync(backup)) throw new MaintenanceError(`the backup ${backup} does not exist`);
  const hasTables = (await readChangesAt(url)).length > 0;
  if (hasTables && !replace) throw new MaintenanceError(`the database has tables: ${REPLACE_HINT}`);
  if (hasTables) await rejectIfInUse(url);
  const toolArguments = [
    '--single-transaction',
    '--exit-on-error',
    '--no-owner',
    '--no-privileges',
    '--dbname',
    'URL',
    backup,
  ];
  const fill = (address: string) => runPostgresTool('pg_restore', address, toolArguments);
  const previousLocation = hasTables ? await replaceDatabase(url, fill) : null;
  if (!hasTables) await fill(url);
  const appliedChanges = await readChangesAt(url);
  return {
    previous: previousLocation,
    pending: Object.keys(migrations).filter((name) => !appliedChanges.includes(name)),
  };
}

/**
 * Restores a backup to a database that no server uses, atomically: the former database remains in place until the end,
 * and is then renamed.
 *
 * @param url a SQLite file, or `postgres://...`; a PostgreSQL database must exist, and existing data requires
 * `replace`
 * @throws MaintenanceError, whose message contains the cause and the fix; DatabaseInUse; DatabaseUnavailable
 */
export async function restoreDatabase(
  url: string,
  backup: string,
  { replace, imageDirectory }: RestoreOptions,
): Promise<RestoreReport> {
  // Image files are added to existing ones, so that the former and the restored database both have all their images.
  const directory = imageDirectoryOf(url, imageDirectory);
  if (directory !== undefined) await copyImageFiles(`${backup}.images`, directory);
  return isPostgres(url)
    ? restorePostgres(url, backup, replace)
    : restoreSqlite(resolve(url), resolve(backup), replace);
}
