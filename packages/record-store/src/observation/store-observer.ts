/** An executed statement. Times are in milliseconds. */
export interface ObservedStatement {
  /** Verb and table, such as `select servers`. There are a few hundred different values. */
  readonly name: string;
  /** Number of rows that were read or changed. */
  readonly rows: number;
  /** Start time, as returned by `performance.now()`. */
  readonly startedAt: number;
  readonly ms: number;
  readonly failed: boolean;
}

/** State of the connection pool after a connection was acquired or released. */
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
 * Observes the database, for metrics and traces. The functions are called synchronously, so they must be quick and must
 * not throw.
 */
export interface StoreObserver {
  /**
   * If present, each transaction keeps the asynchronous context of its caller, even if it shares a commit with others.
   */
  readonly around?: (...given: never[]) => unknown;
  readonly statement?: (statement: ObservedStatement) => void;
  readonly pool?: (pool: ObservedPool) => void;
  /** Called after a commit that transactions may share: every commit on SQLite, and commits of batches on PostgreSQL. */
  readonly commit?: (result: { readonly transactions: number; readonly ms: number }) => void;
}
