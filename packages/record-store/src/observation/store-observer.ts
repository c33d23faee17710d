/** A statement that the database has answered. Times in milliseconds. */
export interface ObservedStatement {
  /** Verb and table: `select servers`. One of a few hundred, whatever is asked for. */
  readonly name: string;
  /** Rows read, or changed. */
  readonly rows: number;
  /** By `performance.now()`. */
  readonly begunAt: number;
  readonly ms: number;
  readonly failed: boolean;
}

/** Connections of the database, when one was taken or given back. */
export interface ObservedPool {
  /** How many there may be. */
  readonly most: number;
  readonly busy: number;
  /** Who waits for one. */
  readonly waiting: number;
  /** When one was taken: how long that had to be waited for, in milliseconds. */
  readonly waitedMs: number | undefined;
}

/** Observes the database: for metrics and traces. Called in the middle of the work, so it must be quick and must not throw. */
export interface StoreObserver {
  /** When present, each transaction keeps the asynchronous context of its caller, also when it shares a commit with others. */
  readonly around?: (...given: never[]) => unknown;
  readonly statement?: (told: ObservedStatement) => void;
  readonly pool?: (told: ObservedPool) => void;
  /** Transactions that shared a commit: all on SQLite, those that many callers make at the same time on PostgreSQL. */
  readonly commit?: (told: { readonly transactions: number; readonly ms: number }) => void;
}
