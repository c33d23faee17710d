import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

const CURE = 'give this user the right to write there, or name another file with --db';
const WHY: Readonly<Record<string, string>> = {
  EACCES: `may not be written: ${CURE}`,
  EROFS: `is on a read-only file system: ${CURE}`,
  EPERM: `may not be written: ${CURE}`,
  EEXIST: 'is not a folder: name another file with --db',
  ENOTDIR: 'is not a folder: name another file with --db',
};

/** Whether a database is a SQLite file of its own. */
export function isFile(url: string): boolean {
  return url !== ':memory:' && !/^postgres(ql)?:/.test(url);
}

/** The database that `--db` names, its folder made where it is a file. */
export function databaseFrom({ db }: Options): string {
  if (!isFile(db)) return db;
  const file = resolve(db);
  try {
    mkdirSync(dirname(file), { recursive: true });
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(file), constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code, path = file } = error as NodeJS.ErrnoException;
    throw new StartError(`--db ${db} cannot be used: ${path} ${WHY[code ?? ''] ?? (error as Error).message}`);
  }
  return file;
}

/** Where the keys of a database are that is no file. */
export const DEFAULT_KEY_FILE = 'data/secret.key';

/** Where the keys of a database are, unless the environment has them; left out: beside the SQLite file. */
export function secretKeyFile(options: Options, environment: NodeJS.ProcessEnv, database: string): string | undefined {
  const given = options['secret-key-file'];
  const byItself = environment.APISTRATA_SECRET_KEY || isFile(database) || database === ':memory:';
  if (given === undefined && byItself) return undefined;
  const file = resolve(given ?? DEFAULT_KEY_FILE);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

export function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^:@/]*):[^@/]*@/, '$1:***@');
}
