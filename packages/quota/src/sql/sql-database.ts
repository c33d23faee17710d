import type { MaybePromise } from '../store.js';

/** A column value. Integers may be numbers, decimal strings or bigints, depending on the driver. */
export type SqlValue = string | number | bigint | null;
/** A row of a result, by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The result of one statement. */
export interface SqlResult {
  readonly rows: readonly SqlRow[];
  /** The number of rows that were written or, for a query, returned. */
  readonly count: number;
}

/** A statement with `?` for each parameter, in order. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the statement returns rows. */
  readonly returns: boolean;
}

/**
 * Database work as a generator: it yields statements and receives their rows. The same work runs synchronously on a
 * synchronous driver, without interleaving, and with awaits on an asynchronous one.
 */
export type Steps<T> = Generator<Statement, T, readonly SqlRow[]>;

/** The interface between the SQL store and a database: see `postgres()`, `mysql()` and `sqlite()`. */
export interface SqlDatabase {
  readonly dialect: 'postgres' | 'mysql' | 'sqlite';
  /** Returns whether a transaction of the caller is open, which new work must join. */
  isInTransaction(): boolean;
  /**
   * Runs the work in one transaction, which is serialized with other transactions of this store. Commits when the work returns,
   * and rolls back when it throws. May run the work again if the database requires it.
   */
  transaction<T>(work: () => Steps<T>): MaybePromise<T>;
  /**
   * Runs one statement as a transaction, prepared if possible. Only for databases with round trips; without this function, all
   * work uses `transaction`.
   *
   * @param parameters returns the values of `$1`, `$2`, ...; called only when a connection is available, as the work of a
   *   transaction is
   */
  query?(sql: string, parameters: () => readonly SqlValue[]): Promise<SqlResult>;
}

/** Creates a statement that returns rows. */
export function read(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: true };
}

/** Creates a statement that does not return rows. */
export function write(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: false };
}
