import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openSqlite } from '@apistrata/record-store';
import { type DatabaseReader, isPostgres, openReader, readChanges } from './database-reader.js';
import { copyImageFiles, imageDirectoryOf } from './image-files.js';
import { MaintenanceError } from './maintenance-error.js';
import { createFile } from './new-file.js';
import { runPostgresTool } from './postgres-tools.js';

/** The result of a backup. */
export interface BackupReport {
  readonly kind: 'sqlite' | 'postgres';
  readonly file: string;
  readonly bytes: number;
  /**
   * Number of image content files in the directory `FILE.images` next to the backup; 0 if the database contains the
   * content of all images.
   */
  readonly images: number;
  /** The newest schema change in the backup. */
  readonly tables: string;
}

/** Options for a backup. */
export interface BackupOptions {
  /** Directory that contains image content. Default: as for `createEngine`. */
  readonly imageDirectory?: string;
}

/** SQLite's error code SQLITE_NOTADB, for a file that does not start with a database header. */
const NOT_A_DATABASE = 26;

/** Maximum number of findings in a message. */
const MAX_FINDINGS = 5;

/** Returns the findings of an integrity check, with table and index names instead of page numbers. */
async function describeDamage({ rows }: DatabaseReader): Promise<string> {
  const findingMessages = (await rows(`PRAGMA integrity_check(${MAX_FINDINGS})`)).map(({ integrity_check }) =>
    String(integrity_check),
  );
  if (findingMessages[0] === 'ok') return '';
  const names = await rows('select name, rootpage from sqlite_schema').catch(() => []);
  const namesByPage = new Map(names.map(({ name, rootpage }) => [String(rootpage), String(name)]));
  return findingMessages
    .flatMap((text) => text.split('\n'))
    .filter((line) => !line.startsWith('***'))
    .map((line) => line.replace(/^Tree (\d+)/, (tree, page) => namesByPage.get(page) ?? tree))
    .join('; ');
}

/** Returns the schema changes of a SQLite database; throws if the file is not an intact database. */
export async function readChangesInFile(file: string): Promise<readonly string[]> {
  let reader: DatabaseReader | undefined;
  try {
    reader = openReader(file);
    const damage = await describeDamage(reader);
    if (damage !== '') throw new MaintenanceError(`${file} is damaged: ${damage}`);
    return await readChanges(reader);
  } catch (error) {
    if (error instanceof MaintenanceError) throw error;
    const { errcode, message } = ((error as Error).cause ?? error) as { errcode?: number; message: string };
    if (errcode === NOT_A_DATABASE) throw new MaintenanceError(`${file} is not a SQLite database: ${message}`);
    throw new MaintenanceError(`${file} is damaged: ${message}`);
  } finally {
    await reader?.close();
  }
}

async function copySqlite(url: string, draft: string): Promise<void> {
  const handle = openSqlite(url, { readOnly: true });
  try {
    // A consistent snapshot that does not block writers.
    handle.prepare('VACUUM INTO ?').run(draft);
  } finally {
    handle.close();
  }
  await readChangesInFile(draft);
}

async function copyPostgres(url: string, draft: string): Promise<void> {
  const dumpOptions = ['--format=custom', '--no-owner', '--no-privileges', '--no-unlogged-table-data'];
  await runPostgresTool('pg_dump', url, [...dumpOptions, '--file', draft, '--dbname', 'URL']);
  await runPostgresTool('pg_restore', url, ['--list', draft]);
}

/**
 * Copies the state of a database at one point in time, while servers use it: SQLite with `VACUUM INTO`, PostgreSQL with
 * `pg_dump`. When the promise resolves, the copy is complete and has been verified. Secrets in it remain encrypted, and
 * their key is not included.
 *
 * @param url a SQLite file, or `postgres://...`
 * @param file path of the copy, which must not exist. Image content that is stored in files is copied to `FILE.images`
 * @throws MaintenanceError, whose message contains the cause and the fix; DatabaseUnavailable
 *
 * @example
 * import { backupDatabase } from '@apistrata/compute-engine/maintenance';
 *
 * const { bytes } = await backupDatabase('data/compute.db', '/backups/today.backup');
 */
export async function backupDatabase(url: string, file: string, options: BackupOptions = {}): Promise<BackupReport> {
  const reader = openReader(url);
  const tables = (await readChanges(reader).finally(() => reader.close())).at(-1);
  if (tables === undefined) throw new MaintenanceError('the database has no tables yet: there is nothing to back up');
  const target = resolve(file);
  const copyImages = () => copyImageFiles(imageDirectoryOf(url, options.imageDirectory), `${target}.images`);
  let images = 0;
  await createFile(target, async (draft) => {
    // Images are copied before the database, because some may be deleted in the meantime, and again after it, because
    // some may be added.
    await copyImages();
    await (isPostgres(url) ? copyPostgres(url, draft) : copySqlite(url, draft));
    images = await copyImages();
  });
  return { kind: reader.kind, file: target, bytes: statSync(target).size, images, tables };
}
