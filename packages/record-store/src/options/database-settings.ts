import { availableParallelism } from 'node:os';

/**
 * What a commit to a SQLite file survives: with `disk`, also a power failure; with `process`, only the end of the
 * process.
 */
export type Durability = 'disk' | 'process';

/** Settings of a database. Times are in milliseconds. */
export interface DatabaseSettings {
  /** SQLite files: whether a commit waits for the disk. PostgreSQL has its own setting for this. */
  readonly durability: Durability;
  /** PostgreSQL: the maximum number of connections. */
  readonly poolSize: number;
  /**
   * The maximum number of concurrent long queries, such as a search for a substring in a large table: threads
   * for a SQLite file, connections to PostgreSQL (at most half of `poolSize`). Additional long queries wait.
   */
  readonly longReads: number;
  /** PostgreSQL: how long an operation waits for a free or a new connection. */
  readonly poolWaitMs: number;
  /** PostgreSQL: timeout of a statement; 0 means no limit. */
  readonly statementTimeoutMs: number;
  /** How long an operation waits for a lock, on rows or on the SQLite file; 0 means no limit in PostgreSQL. */
  readonly lockTimeoutMs: number;
  /** PostgreSQL: how long a transaction may be idle before the server ends it; 0 means no limit. */
  readonly idleTransactionTimeoutMs: number;
  /**
   * PostgreSQL with replicas: the maximum staleness of data of other projects and of shared tables. Callers
   * always see the writes of their own project.
   */
  readonly maxStalenessMs: number;
}

/** The default settings of a database. Times are in milliseconds. */
export const defaultDatabaseSettings: DatabaseSettings = {
  durability: 'disk',
  poolSize: 10,
  // If the database runs on the same computer, one processor remains for requests.
  longReads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  poolWaitMs: 10_000,
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 10_000,
  idleTransactionTimeoutMs: 60_000,
  maxStalenessMs: 5000,
};

/** The maximum duration that both databases and Node support. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Returns complete settings, with the defaults of omitted ones.
 *
 * @throws RangeError if a setting is invalid
 */
export function databaseSettings(given: Partial<DatabaseSettings>): DatabaseSettings {
  const entries = (Object.keys(defaultDatabaseSettings) as (keyof DatabaseSettings)[]).map((name) => [
    name,
    given[name] ?? defaultDatabaseSettings[name],
  ]);
  const settings = Object.fromEntries(entries) as DatabaseSettings;
  const { durability, ...numbers } = settings;
  if (durability !== 'disk' && durability !== 'process')
    throw new RangeError(`durability is '${durability}': it must be 'disk' or 'process'`);
  for (const [name, value] of Object.entries(numbers)) {
    const min = name.startsWith('pool') || name === 'longReads' ? 1 : 0;
    if (!Number.isInteger(value) || value < min || value > MAX_MS)
      throw new RangeError(`${name} is ${value}: it must be an integer from ${min} to ${MAX_MS}`);
  }
  return settings;
}
