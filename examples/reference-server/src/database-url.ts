import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Options } from './options.js';

const DEFAULT_FILE = 'data/compute.db';
const DEFAULT_KEY_FILE = 'data/secret.key';

/** Whether a database is a SQLite file of its own. */
export function isFile(url: string): boolean {
  return url !== ':memory:' && !/^postgres(ql)?:/.test(url);
}

/** The database that `--db` names, its folder made where it is a file. */
export function databaseFrom(options: Options): string {
  const url = options.db ?? DEFAULT_FILE;
  if (!isFile(url)) return url;
  const file = resolve(url);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

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
