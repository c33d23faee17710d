import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Options } from './options.js';
import { StartError } from './start-error.js';
import { findClosestName } from './suggestion.js';

const WRITE_ACCESS_HINT = 'give this user write access, or choose another file with --db';
const ERROR_REASONS: Readonly<Record<string, string>> = {
  EACCES: `is not writable: ${WRITE_ACCESS_HINT}`,
  EROFS: `is on a read-only file system: ${WRITE_ACCESS_HINT}`,
  EPERM: `is not writable: ${WRITE_ACCESS_HINT}`,
  EEXIST: 'is not a folder: choose another file with --db',
  ENOTDIR: 'is not a folder: choose another file with --db',
};

/** Returns whether a database is a SQLite file. */
export function isSqliteFile(url: string): boolean {
  return url !== ':memory:' && !/^postgres(ql)?:/.test(url);
}

const KNOWN_SCHEMES = ['postgres', 'postgresql'];

/**
 * Rejects a URL with an unknown scheme, which would otherwise be treated as the path of a SQLite file. @throws
 * StartError
 */
function checkScheme(db: string): void {
  // A single letter before the colon is a Windows drive, not a scheme.
  const [, scheme] = /^([a-z][a-z0-9+.-]+):/i.exec(db) ?? [];
  if (scheme === undefined || KNOWN_SCHEMES.includes(scheme)) return;
  const closestScheme = findClosestName(scheme, KNOWN_SCHEMES);
  const hint =
    scheme === 'sqlite' || scheme === 'file'
      ? 'For SQLite, use only the path, such as data/compute.db.'
      : closestScheme === undefined
        ? 'Use postgres://USER@HOST/DATABASE, the path of a SQLite file, or :memory:.'
        : `Did you mean "${closestScheme}://"?`;
  throw new StartError(`--db: unsupported scheme "${scheme}:". ${hint}`);
}

/** Returns the folder if it exists, otherwise its nearest existing ancestor. */
function findExistingFolder(folder: string): string {
  return existsSync(folder) ? folder : findExistingFolder(dirname(folder));
}

/** Checks that a folder is writable, or can be created; creates nothing. @throws StartError */
export function checkFolder(option: string, folder: string): void {
  const existingAncestor = findExistingFolder(resolve(folder));
  if (!statSync(existingAncestor).isDirectory())
    throw new StartError(`--${option} ${folder} cannot be created: ${existingAncestor} is not a folder`);
  try {
    accessSync(existingAncestor, constants.R_OK | constants.W_OK);
  } catch {
    throw new StartError(`--${option} ${folder} cannot be used: ${existingAncestor} is not writable by this user`);
  }
}

/** Checks `--db` without creating anything. @throws StartError */
export function checkDatabase({ db }: Pick<Options, 'db'>): void {
  checkScheme(db);
  if (!isSqliteFile(db)) return;
  const file = resolve(db);
  if (existsSync(file) && statSync(file).isDirectory())
    throw new StartError(`--db ${db} is a folder: use the path of a file in it`);
  checkFolder('db', dirname(file));
}

/** Returns the database that `--db` names: a path or URL. Creates the folder of a SQLite file. @throws StartError */
export function databaseFrom({ db }: Options): string {
  checkScheme(db);
  if (!isSqliteFile(db)) return db;
  const file = resolve(db);
  try {
    mkdirSync(dirname(file), { recursive: true });
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(file), constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code, path = file } = error as NodeJS.ErrnoException;
    throw new StartError(`--db ${db} cannot be used: ${path} ${ERROR_REASONS[code ?? ''] ?? (error as Error).message}`);
  }
  return file;
}

/** The default secret key file of a PostgreSQL database. */
export const DEFAULT_KEY_FILE = 'data/secret.key';

/** Returns the secret key file; undefined if the key is in the environment, next to the SQLite file, or in memory. */
export function secretKeyFileFrom(
  options: Options,
  environment: NodeJS.ProcessEnv,
  database: string,
): string | undefined {
  const optionFile = options['secret-key-file'];
  const hasDefaultKey = environment.APISTRATA_SECRET_KEY || isSqliteFile(database) || database === ':memory:';
  if (optionFile === undefined && hasDefaultKey) return undefined;
  const file = resolve(optionFile ?? DEFAULT_KEY_FILE);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

export function maskPassword(url: string): string {
  return url.replace(/(\/\/[^:@/]*):[^@/]*@/, '$1:***@');
}
