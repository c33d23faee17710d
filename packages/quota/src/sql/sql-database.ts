import type { MaybePromise } from '../store.js';

/** One column value. Integers may come as numbers, decimal text or bigints, as the driver likes. */
export type SqlValue = string | number | bigint | null;
/** A row of an answer, by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** What came of one statement. */
export interface SqlAnswer {
  readonly rows: readonly SqlRow[];
  /** How many rows it wrote, or else answered with. */
  readonly count: number;
}

/** A statement with `?` for each parameter, in order. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Whether it answers with rows. */
  readonly returns: boolean;
}

/**
 * Work on a database as a generator: it yields statements and is sent their rows. So the same work runs in one go on
 * a driver that answers at once, where nothing may slip in between, and awaits on one that does not.
 */
export type Steps<T> = Generator<Statement, T, readonly SqlRow[]>;

/** What the SQL store needs from a database: see `postgres()` and `sqlite()`. */
export interface SqlDatabase {
  readonly dialect: 'postgres' | 'sqlite';
  /** Whether a transaction of the caller is open that work asked for now has to be part of. */
  isInTransaction(): boolean;
  /**
   * Runs the work in one transaction that no other transaction of this store overtakes in the middle: it commits when
   * the work returns, and rolls back when it throws. May start over where the database asks for it.
   */
  transaction<T>(work: () => Steps<T>): MaybePromise<T>;
  /**
   * Runs one statement that is a transaction by itself, prepared where that is possible.
   * Only where a question costs a round trip; without it all goes by `transaction`.
   *
   * @param parameters `$1`, `$2`, ...: asked for, as the work of a transaction is, only once there is a connection to send them on
   */
  ask?(sql: string, parameters: () => readonly SqlValue[]): Promise<SqlAnswer>;
}

export function read(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: true };
}

export function write(sql: string, ...parameters: SqlValue[]): Statement {
  return { sql, parameters, returns: false };
}
