import { availableParallelism } from 'node:os';

/**
 * The failures that a commit to a SQLite file survives: with `disk`, process crashes and power failures; with
 * `process`, only process crashes.
 */
export type Durability = 'disk' | 'process';

/** Settings for a database. Times are in milliseconds. */
export interface DatabaseSettings {
  /** SQLite files: whether a commit waits until it is on disk. PostgreSQL has its own setting for this. */
  readonly durability: Durability;
  /** PostgreSQL: the maximum number of connections. */
  readonly poolSize: number;
  /**
   * The maximum number of concurrent long queries, such as substring searches in a large table. Each long query uses a
   * thread (SQLite file) or a connection (PostgreSQL, at most half of `poolSize`). Additional long queries wait.
   */
  readonly longReads: number;
  /** PostgreSQL: how long an operation waits for a free or a new connection. */
  readonly poolWaitMs: number;
  /** PostgreSQL: the maximum duration of a statement; 0 means no limit. */
  readonly statementTimeoutMs: number;
  /** How long an operation waits for a row lock or for the lock on a SQLite file. In PostgreSQL, 0 means no limit. */
  readonly lockTimeoutMs: number;
  /** PostgreSQL: how long a transaction may be idle before the server ends it; 0 means no limit. */
  readonly idleTransactionTimeoutMs: number;
  /**
   * PostgreSQL with replicas: the maximum staleness of data from other projects and shared tables. Callers always see
   * the writes of their own project.
   */
  readonly maxStalenessMs: number;
}

/** The default settings of a database. Times are in milliseconds. */
export const defaultDatabaseSettings: DatabaseSettings = {
  durability: 'disk',
  poolSize: 10,
  // Leaves one CPU for requests if the database runs on the same computer.
  longReads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  poolWaitMs: 10_000,
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 10_000,
  idleTransactionTimeoutMs: 60_000,
  maxStalenessMs: 5000,
};

/** The maximum duration that both databases and Node support, in milliseconds. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/**
 * Returns complete settings, with default values for omitted ones.
 *
 * @throws RangeError if a setting is invalid
 */
export function databaseSettings(options: Partial<DatabaseSettings>): DatabaseSettings {
  const entries = (Object.keys(defaultDatabaseSettings) as (keyof DatabaseSettings)[]).map((name) => [
    name,
    options[name] ?? defaultDatabaseSettings[name],
  ]);
  const settings = Object.fromEntries(entries) as DatabaseSettings;
  const { durability, ...numbers } = settings;
  if (durability !== 'disk' && durability !== 'process')
    throw new RangeError(`durability is '${durability}': it must be 'disk' or 'process'`);
  for (const [name, value] of Object.entries(numbers)) {
    const min = name.startsWith('pool') || name === 'longReads' ? 1 : 0;
    if (!Number.isInteger(value) || value < min || value > MAX_DURATION_MS)
      throw new RangeError(`${name} is ${value}: it must be an integer from ${min} to ${MAX_DURATION_MS}`);
  }
  return settings;
}
