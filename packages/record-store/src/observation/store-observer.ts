/** A statement that was executed, as reported to an observer. Times are in milliseconds. */
export interface ObservedStatement {
  /** The statement's verb and table, such as `select servers`. A store has at most a few hundred different names. */
  readonly name: string;
  /** Number of rows that were read or changed. */
  readonly rows: number;
  /** Start time, as returned by `performance.now()`. */
  readonly startedAt: number;
  readonly ms: number;
  readonly failed: boolean;
}

/** The state of the connection pool, as reported after a connection was acquired or released. */
export interface ObservedPool {
  /** The maximum number of connections. */
  readonly max: number;
  readonly busy: number;
  /** The number of callers that wait for a connection. */
  readonly waiting: number;
  /** How long the caller waited for the connection, in milliseconds; undefined after a release. */
  readonly waitedMs: number | undefined;
}

/**
 * Functions that observe the database, for metrics and traces. They are called synchronously, so they must be fast and
 * must not throw.
 */
export interface StoreObserver {
  /** If set, each transaction keeps its caller's asynchronous context, even if it shares a commit with others. */
  readonly around?: (...given: never[]) => unknown;
  readonly statement?: (statement: ObservedStatement) => void;
  readonly pool?: (pool: ObservedPool) => void;
  /** Called after each commit that transactions can share: every commit on SQLite, and batch commits on PostgreSQL. */
  readonly commit?: (result: { readonly transactions: number; readonly ms: number }) => void;
}
