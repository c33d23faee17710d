/** An executed statement. Times are in milliseconds. */
export interface ObservedStatement {
  /** Verb and table: `select servers`. One of a few hundred values. */
  readonly name: string;
  /** Number of rows read, or changed. */
  readonly rows: number;
  /** Start time by `performance.now()`. */
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
  /** After an acquisition: how long the caller waited for it, in milliseconds. */
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
  readonly pool?: (reported: ObservedPool) => void;
  /** Called for transactions that share a commit: all on SQLite, concurrent ones that may be batched on PostgreSQL. */
  readonly commit?: (result: { readonly transactions: number; readonly ms: number }) => void;
}
