import { dirname, join, resolve } from 'node:path';
import { isSqliteFile } from '../database-url.js';
import type { Options } from '../options.js';

/** Returns the path of clouds.yaml; undefined for a database in memory, unless the option names one. */
export function cloudsYamlPath(options: Options): string | undefined {
  const { db, 'clouds-yaml': configuredPath } = options;
  if (configuredPath !== undefined) return resolve(configuredPath);
  if (db === ':memory:') return undefined;
  return isSqliteFile(db) ? join(dirname(resolve(db)), 'clouds.yaml') : resolve('data/clouds.yaml');
}
