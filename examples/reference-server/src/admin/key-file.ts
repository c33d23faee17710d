import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFAULT_KEY_FILE, isSqliteFile } from '../database-url.js';
import type { Options } from '../options.js';
import { StartError } from '../start-error.js';

/**
 * Returns the key file of a database that servers already use; undefined if the environment contains the key. An admin
 * command never creates a key, because servers could not decrypt data that the command encrypts with it.
 */
export function findKeyFile(options: Options, environment: NodeJS.ProcessEnv, database: string): string | undefined {
  const optionFile = options['secret-key-file'];
  if (optionFile === undefined && environment.APISTRATA_SECRET_KEY) return undefined;
  const file = optionFile ?? (isSqliteFile(database) ? `${database}.key` : DEFAULT_KEY_FILE);
  if (existsSync(file)) return resolve(file);
  throw new StartError(`the secret key ${file} does not exist: use the servers' --secret-key-file`);
}
