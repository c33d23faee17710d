import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult, TransactionSettings } from 'kysely';
import { statementName } from '../batching/statement-name.js';
import type { StoreObserver } from './store-observer.js';

type Execute = DatabaseConnection['executeQuery'];

/** A driver whose statements and connections are looked at. */
class ObservedDriver implements Driver {
  readonly #driver: Driver;
  readonly #observer: StoreObserver;
  readonly #most: number;
  readonly #seen = new WeakSet<DatabaseConnection>();
  #busy = 0;
  #waiting = 0;

  constructor(driver: Driver, observer: StoreObserver, most: number) {
    this.#driver = driver;
    this.#observer = observer;
    this.#most = most;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const begunAt = performance.now();
    this.#waiting++;
    let connection: DatabaseConnection;
    try {
      connection = await this.#driver.acquireConnection();
    } finally {
      this.#waiting--;
    }
    this.#busy++;
    this.#tellPool(performance.now() - begunAt);
    if (this.#observer.statement && !this.#seen.has(connection)) {
      this.#seen.add(connection);
      connection.executeQuery = observedExecution(connection.executeQuery.bind(connection), this.#observer.statement);
    }
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#busy--;
    await this.#driver.releaseConnection(connection);
    this.#tellPool(undefined);
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

  #tellPool(waitedMs: number | undefined): void {
    this.#observer.pool?.({ most: this.#most, busy: this.#busy, waiting: this.#waiting, waitedMs });
  }
}

function observedExecution(execute: Execute, tell: NonNullable<StoreObserver['statement']>): Execute {
  return async function executeObserved<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const begunAt = performance.now();
    let rows = 0;
    let failed = true;
    try {
      const result = await execute<R>(query);
      rows = result.rows.length || Number(result.numAffectedRows ?? 0);
      failed = false;
      return result;
    } finally {
      tell({ name: statementName(query), rows, begunAt, ms: performance.now() - begunAt, failed });
    }
  };
}

/**
 * The same dialect under observation; untouched where nobody wants to know.
 *
 * @param most how many connections there may be
 */
export function observedDialect(dialect: Dialect, observer: StoreObserver | undefined, most: number): Dialect {
  if (!observer?.statement && !observer?.pool) return dialect;
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new ObservedDriver(dialect.createDriver(), observer, most),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
