import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openSqlite } from '@apistrata/record-store';
import { changesIn, type DatabaseReader, isPostgres, openReader } from './database-reader.js';
import { copyImageFiles, imageDirectoryOf } from './image-files.js';
import { newFile } from './new-file.js';
import { OperatingError } from './operating-error.js';
import { runPostgresTool } from './postgres-tools.js';

/** What a backup holds. */
export interface BackupReport {
  readonly kind: 'sqlite' | 'postgres';
  readonly file: string;
  readonly bytes: number;
  /** Files with the content of images, in the folder `FILE.images` beside it; 0 where the database has all of it. */
  readonly images: number;
  /** The newest change of the tables in it. */
  readonly tables: string;
}

/** What a backup holds beside the database. */
export interface BackupOptions {
  /** Where the image service keeps content; default: where the engine does. */
  readonly imageDirectory?: string;
}

/** Throws unless this is a whole SQLite database; gives the changes of its tables. */
export async function changesInFile(file: string): Promise<readonly string[]> {
  let reader: DatabaseReader | undefined;
  try {
    reader = openReader(file);
    const [first] = await reader.rows('PRAGMA quick_check(1)');
    if (first?.quick_check !== 'ok') throw new OperatingError(`${file} is damaged: ${first?.quick_check}`);
    return await changesIn(reader);
  } catch (error) {
    if (error instanceof OperatingError) throw error;
    throw new OperatingError(`${file} is no SQLite database: ${(error as Error).message}`);
  } finally {
    await reader?.close();
  }
}

async function copySqlite(url: string, draft: string): Promise<void> {
  const handle = openSqlite(url, { readOnly: true });
  try {
    // One moment of the database, whatever is written meanwhile; writers are not kept waiting.
    handle.prepare('VACUUM INTO ?').run(draft);
  } finally {
    handle.close();
  }
  await changesInFile(draft);
}

async function copyPostgres(url: string, draft: string): Promise<void> {
  const contents = ['--format=custom', '--no-owner', '--no-privileges', '--no-unlogged-table-data'];
  await runPostgresTool('pg_dump', url, [...contents, '--file', draft, '--dbname', 'URL']);
  await runPostgresTool('pg_restore', url, ['--list', draft]);
}

/**
 * Copies a database as it is at one moment, while servers go on working with it: a SQLite file with `VACUUM INTO`, PostgreSQL
 * with `pg_dump`. The copy is complete and read back when this resolves. Secrets in it stay sealed: their key is not in it.
 *
 * @param url a SQLite file, or `postgres://...`
 * @param file where the copy goes; nothing is overwritten. Content of images that is kept in files goes to `FILE.images`
 * @throws OperatingError with cause and cure, DatabaseUnavailable
 * @example
 * import { backupDatabase } from '@apistrata/compute-engine/maintenance';
 *
 * const { bytes } = await backupDatabase('data/compute.db', '/backups/today.backup');
 */
export async function backupDatabase(url: string, file: string, options: BackupOptions = {}): Promise<BackupReport> {
  const reader = openReader(url);
  const tables = (await changesIn(reader).finally(() => reader.close())).at(-1);
  if (tables === undefined) throw new OperatingError('the database has no tables yet: there is nothing to keep');
  const target = resolve(file);
  const copyImages = () => copyImageFiles(imageDirectoryOf(url, options.imageDirectory), `${target}.images`);
  let images = 0;
  await newFile(target, async (draft) => {
    // Before for what is deleted meanwhile, after for what has come meanwhile.
    await copyImages();
    await (isPostgres(url) ? copyPostgres(url, draft) : copySqlite(url, draft));
    images = await copyImages();
  });
  return { kind: reader.kind, file: target, bytes: statSync(target).size, images, tables };
}
