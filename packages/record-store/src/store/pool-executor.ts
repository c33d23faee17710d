import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';

/** A driver that initializes another driver before its first use, and destroys it only once. */
class LazyDriver implements Driver {
  readonly #driver: Driver;
  #initialization: Promise<void> | undefined;
  #isInitialized = false;
  #destruction: Promise<void> | undefined;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async init(): Promise<void> {
    this.#initialization ??= this.#driver.init().catch((error) => {
      this.#initialization = undefined;
      throw error;
    });
    await this.#initialization;
    this.#isInitialized = true;
  }

  acquireConnection(): Promise<DatabaseConnection> {
    if (this.#destruction)
      return Promise.reject(new DatabaseUnavailable('unreachable', new Error('the database has been closed')));
    return this.#isInitialized
      ? this.#driver.acquireConnection()
      : this.init().then(() => this.#driver.acquireConnection());
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#driver.releaseConnection(connection);
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

  async destroy(): Promise<void> {
    if (!this.#initialization) return;
    await this.#initialization;
    this.#destruction ??= this.#driver.destroy();
    await this.#destruction;
  }
}

/** Executes a statement on a separate connection. */
export type ExecuteAlone = <R>(query: CompiledQuery) => Promise<QueryResult<R>>;

/**
 * Executes each statement outside of transactions on one of the driver's connections. It skips Kysely's steps for
 * plugins and logs, which cost more than many statements.
 */
class PoolExecutor extends DefaultQueryExecutor {
  readonly #execute: ExecuteAlone;

  constructor(dialect: Dialect, driver: Driver, execute: ExecuteAlone) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), new DefaultConnectionProvider(driver));
    this.#execute = execute;
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#execute<R>(query);
  }
}

/**
 * Creates a Kysely instance for a dialect.
 *
 * @param createExecute returns the function that executes statements outside of transactions; default: each statement
 *   on a separate connection
 */
export function openPool<Rows>(
  dialect: Dialect,
  createExecute: (driver: Driver, alone: ExecuteAlone) => ExecuteAlone = (_driver, alone) => alone,
): Kysely<Rows> {
  const driver = new LazyDriver(dialect.createDriver());
  const executeAlone: ExecuteAlone = async <R>(query: CompiledQuery) => {
    const connection = await driver.acquireConnection();
    try {
      return await connection.executeQuery<R>(query);
    } finally {
      await driver.releaseConnection(connection);
    }
  };
  const executor = new PoolExecutor(dialect, driver, createExecute(driver, executeAlone));
  return new Kysely<Rows>({ config: { dialect }, dialect, driver, executor });
}
