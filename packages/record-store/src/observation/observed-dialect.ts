import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult, TransactionSettings } from 'kysely';
import { statementName } from '../batching/statement-name.js';
import type { StoreObserver } from './store-observer.js';

type ExecuteQuery = DatabaseConnection['executeQuery'];

/** A driver that reports its statements and connections to an observer. */
class ObservedDriver implements Driver {
  readonly #driver: Driver;
  readonly #observer: StoreObserver;
  readonly #max: number;
  readonly #observedConnections = new WeakSet<DatabaseConnection>();
  #busyCount = 0;
  #waiting = 0;

  constructor(driver: Driver, observer: StoreObserver, max: number) {
    this.#driver = driver;
    this.#observer = observer;
    this.#max = max;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const startedAt = performance.now();
    this.#waiting++;
    let connection: DatabaseConnection;
    try {
      connection = await this.#driver.acquireConnection();
    } finally {
      this.#waiting--;
    }
    this.#busyCount++;
    this.#reportPool(performance.now() - startedAt);
    if (this.#observer.statement && !this.#observedConnections.has(connection)) {
      this.#observedConnections.add(connection);
      connection.executeQuery = observeExecution(connection.executeQuery.bind(connection), this.#observer.statement);
    }
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#busyCount--;
    await this.#driver.releaseConnection(connection);
    this.#reportPool(undefined);
  }

  beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    return this.#driver.beginTransaction(connection, settings);
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.commitTransaction(connection);
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.rollbackTransaction(connection);
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }

  #reportPool(waitedMs: number | undefined): void {
    this.#observer.pool?.({ max: this.#max, busy: this.#busyCount, waiting: this.#waiting, waitedMs });
  }
}

function observeExecution(execute: ExecuteQuery, notify: NonNullable<StoreObserver['statement']>): ExecuteQuery {
  return async function executeObserved<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const startedAt = performance.now();
    let rows = 0;
    let failed = true;
    try {
      const result = await execute<R>(query);
      rows = result.rows.length || Number(result.numAffectedRows ?? 0);
      failed = false;
      return result;
    } finally {
      notify({ name: statementName(query), rows, startedAt, ms: performance.now() - startedAt, failed });
    }
  };
}

/**
 * Returns a dialect that reports statements and pool states to the observer; without an observer, the dialect itself.
 *
 * @param max the maximum number of connections in the pool
 */
export function observeDialect(dialect: Dialect, observer: StoreObserver | undefined, max: number): Dialect {
  if (!observer?.statement && !observer?.pool) return dialect;
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new ObservedDriver(dialect.createDriver(), observer, max),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
