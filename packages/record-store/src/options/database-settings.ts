import { availableParallelism } from 'node:os';

/** What `202 Accepted` promises of a SQLite file: `disk` outlives a power cut, `process` only the end of the process. */
export type Durability = 'disk' | 'process';

/** How a database is used. Times in milliseconds. */
export interface DatabaseSettings {
  /** SQLite files: whether a commit waits until it is on the disk; PostgreSQL has its own setting for that. */
  readonly durability: Durability;
  /** PostgreSQL: connections at the most. */
  readonly poolSize: number;
  /**
   * Questions that may take long, such as for a part of a name among many servers, that are asked at the same time: threads
   * for a SQLite file, connections to PostgreSQL (half of `poolSize` at the most). Others of them wait.
   */
  readonly longReads: number;
  /** PostgreSQL: how long work waits for a free connection, or for a new one to be made. */
  readonly poolWaitMs: number;
  /** PostgreSQL: what a statement may take; 0 is without limit. */
  readonly statementTimeoutMs: number;
  /** How long work waits for a lock that others hold, on rows or on the SQLite file; 0 is for ever in PostgreSQL. */
  readonly lockTimeoutMs: number;
  /** PostgreSQL: how long a transaction may rest in the middle before the server ends it; 0 is without limit. */
  readonly idleTransactionTimeoutMs: number;
  /**
   * PostgreSQL with replicas: how old that may be what callers read of others, and of what all share. Their own project's
   * writes they always see.
   */
  readonly maxStalenessMs: number;
}

/** The settings of the database where nothing else is said. Times in milliseconds. */
export const defaultDatabaseSettings: DatabaseSettings = {
  durability: 'disk',
  poolSize: 10,
  // Whoever shares the machine with the database leaves a processor to those who serve requests.
  longReads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  poolWaitMs: 10_000,
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 10_000,
  idleTransactionTimeoutMs: 60_000,
  maxStalenessMs: 5000,
};

/** The longest time that both databases and Node take. */
const LONGEST_MS = 2 ** 31 - 1;

/** Fills in what is left out. Throws RangeError for what cannot be. */
export function databaseSettings(given: Partial<DatabaseSettings>): DatabaseSettings {
  const chosen = (Object.keys(defaultDatabaseSettings) as (keyof DatabaseSettings)[]).map((name) => [
    name,
    given[name] ?? defaultDatabaseSettings[name],
  ]);
  const settings = Object.fromEntries(chosen) as DatabaseSettings;
  const { durability, ...numbers } = settings;
  if (durability !== 'disk' && durability !== 'process')
    throw new RangeError(`durability is '${durability}': it is 'disk' or 'process'`);
  for (const [name, value] of Object.entries(numbers)) {
    const least = name.startsWith('pool') || name === 'longReads' ? 1 : 0;
    if (!Number.isInteger(value) || value < least || value > LONGEST_MS)
      throw new RangeError(`${name} is ${value}: it is a whole number from ${least} to ${LONGEST_MS}`);
  }
  return settings;
}
