import { existsSync } from 'node:fs';
import { copyFile, link, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { openDatabase, openSqlite, postgresAddresses, type Rows, SqliteOwner } from '@apistrata/record-store';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { CompiledQuery, type Kysely } from 'kysely';
import { migrations } from '../schema/migrations/index.js';
import { changesInFile } from './backup-database.js';
import { changesIn, isPostgres, openReader } from './database-reader.js';
import { databaseStatus } from './database-status.js';
import { copyImageFiles, imageDirectoryOf } from './image-files.js';
import { sync } from './new-file.js';
import { OperatingError } from './operating-error.js';
import { runPostgresTool } from './postgres-tools.js';

/** How a backup is put in its place. */
export interface RestoreOptions {
  /** Whether a database that is there gives way. It is kept under another name. */
  readonly replace: boolean;
  /** Where the image service keeps content; default: where the engine does. */
  readonly imageDirectory?: string;
}

/** What came of a restore. */
export interface RestoreReport {
  /** Where the database that was there is now; null when there was none. */
  readonly kept: string | null;
  /** Changes of the tables that the next start will make. */
  readonly pending: readonly string[];
}

const CURE = 'ask for it to be replaced (--replace), which keeps it under another name, or name another database';

function stamp(): string {
  return new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
}

async function restoreFile(file: string, backup: string, replace: boolean): Promise<RestoreReport> {
  const done = await changesInFile(backup);
  if (done.length === 0) throw new OperatingError(`${backup} is a SQLite database, but none of this software`);
  const owner = await SqliteOwner.take(file);
  const draft = `${file}.restoring`;
  try {
    const exists = existsSync(file);
    if (exists && !replace) throw new OperatingError(`${file} exists: ${CURE}`);
    await copyFile(backup, draft);
    await sync(draft);
    const kept = exists ? `${file}.before-${stamp()}` : null;
    if (kept) {
      // What its log holds goes into the file: a log beside another file would be taken for that one's.
      const former = openSqlite(file);
      former.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE');
      former.close();
      await link(file, kept);
    }
    for (const log of ['-wal', '-shm']) await rm(`${file}${log}`, { force: true });
    await rename(draft, file);
    await sync(dirname(file));
    return { kept, pending: Object.keys(migrations).filter((name) => !done.includes(name)) };
  } finally {
    await rm(draft, { force: true });
    owner.release();
  }
}

/** The same server, another database. */
function databaseAt(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${encodeURIComponent(name)}`;
  return address.href;
}

/** Runs statements that stand for themselves, such as those about databases. */
async function tell(url: string, statements: readonly string[]): Promise<void> {
  const { db } = openDatabase(url, { ...defaultDatabaseSettings, poolSize: 1, statementTimeoutMs: 0 });
  try {
    for (const statement of statements) await execute(db, statement);
  } finally {
    await db.destroy();
  }
}

async function execute(db: Kysely<Rows>, statement: string): Promise<void> {
  try {
    await db.executeQuery(CompiledQuery.raw(statement));
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as { code?: string; message: string };
    if (code === '42501') throw new OperatingError(`${message}: the user needs the right CREATEDB and has to own it`);
    if (code === '55006') throw new OperatingError(`${message}: stop the servers that use it`);
    throw error;
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Into a new database, which takes the name of the old one when it is complete. */
async function replaceDatabase(url: string, fill: (url: string) => Promise<void>): Promise<string> {
  if (postgresAddresses(url).length > 1)
    throw new OperatingError('a database is replaced on one host: name the primary alone (--db)');
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const [draft, kept] = [`${name}_restoring_${stamp()}`, `${name}_before_${stamp()}`];
  const beside = databaseAt(url, name === 'postgres' ? 'template1' : 'postgres');
  await tell(beside, [`create database ${quoted(draft)}`]);
  try {
    await fill(databaseAt(url, draft));
    await tell(beside, [
      `alter database ${quoted(name)} rename to ${quoted(kept)}`,
      `alter database ${quoted(draft)} rename to ${quoted(name)}`,
    ]);
  } catch (error) {
    await tell(beside, [`drop database if exists ${quoted(draft)}`]).catch(() => {});
    throw error;
  }
  return kept;
}

async function changesAt(url: string): Promise<readonly string[]> {
  const reader = openReader(url);
  return changesIn(reader).finally(() => reader.close());
}

async function refuseUsed(url: string): Promise<void> {
  const { usedBy } = await databaseStatus(url);
  if (usedBy !== null) throw new OperatingError(`the database is used (${usedBy}): stop the servers first`);
}

async function restorePostgres(url: string, backup: string, replace: boolean): Promise<RestoreReport> {
  if (!existsSync(backup)) throw new OperatingError(`there is no backup ${backup}`);
  const filled = (await changesAt(url)).length > 0;
  if (filled && !replace) throw new OperatingError(`the database has tables: ${CURE}`);
  if (filled) await refuseUsed(url);
  const all = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges', '--dbname', 'URL', backup];
  const fill = (address: string) => runPostgresTool('pg_restore', address, all);
  const kept = filled ? await replaceDatabase(url, fill) : null;
  if (!filled) await fill(url);
  const done = await changesAt(url);
  return { kept, pending: Object.keys(migrations).filter((name) => !done.includes(name)) };
}

/**
 * Puts a backup in the place of a database that no server uses. All of it or nothing: until the end the former database
 * stays where it is, and after it under another name.
 *
 * @param url a SQLite file, or `postgres://...`; that database exists, and is empty unless it is replaced
 * @throws OperatingError with cause and cure, DatabaseInUse, DatabaseUnavailable
 */
export async function restoreDatabase(
  url: string,
  backup: string,
  { replace, imageDirectory }: RestoreOptions,
): Promise<RestoreReport> {
  // Beside what is there: of the former database nothing is lost, and of this one nothing is missing.
  const directory = imageDirectoryOf(url, imageDirectory);
  if (directory !== undefined) await copyImageFiles(`${backup}.images`, directory);
  return isPostgres(url) ? restorePostgres(url, backup, replace) : restoreFile(resolve(url), resolve(backup), replace);
}
