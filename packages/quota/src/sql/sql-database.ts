import type { MaybePromise } from '../store.js';

/** A column value. Integers may be numbers, decimal strings or bigints, depending on the driver. */
export type SqlValue = string | number | bigint | null;
/** A row of a query result: values by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The result of one statement. */
export interface SqlResult {
  readonly rows: readonly SqlRow[];
  /** The number of rows that the statement wrote or, for a query, returned. */
  readonly count: number;
}

/** An SQL statement with a `?` for each parameter, in order. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the statement returns rows. */
  readonly returns: boolean;
}

/**
 * The statements of a transaction as a generator, which yields each statement and receives its rows. With a synchronous
 * driver, it runs without interruption; with an asynchronous driver, the store awaits each statement.
 */
export type Steps<T> = Generator<Statement, T, readonly SqlRow[]>;

/** The interface between the SQL store and a database: see `postgres()`, `mysql()` and `sqlite()`. */
export interface SqlDatabase {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite';
  /** Returns whether the caller has opened a transaction that the store's statements must join. */
  isInTransaction(): boolean;
  /**
   * Runs the work in one transaction, serialized with the store's other transactions. Commits when the work returns,
   * and rolls back when it throws. May retry the work if the database requires it.
   */
  transaction<T>(work: () => Steps<T>): MaybePromise<T>;
  /**
   * Runs one statement as a transaction, as a prepared statement if possible. Optional, for databases on a server;
   * without this function, all statements use `transaction`.
   *
   * @param parameters returns the values of `$1`, `$2`, ...; called only when a connection is available
   */
  query?(sql: string, parameters: () => readonly SqlValue[]): Promise<SqlResult>;
}

/** Creates a statement that returns rows. */
export function readStatement(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: true };
}

/** Creates a statement that does not return rows. */
export function writeStatement(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: false };
}
