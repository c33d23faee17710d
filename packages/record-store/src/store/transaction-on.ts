import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  type QueryResult,
  Transaction,
} from 'kysely';
import type { Rows } from './database.js';

/** The connection of a transaction. It rejects statements after the end of the transaction. */
export class TransactionConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  #hasEnded = false;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#hasEnded) throw new Error('the transaction has ended already');
    return this.#connection.executeQuery<R>(query);
  }

  streamQuery<R>(query: CompiledQuery, size: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, size);
  }

  end(): void {
    this.#hasEnded = true;
  }
}

/**
 * Executes statements on one connection. It skips Kysely's steps for plugins and pools, which cost more than many
 * statements.
 */
class ConnectionExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection;

  constructor(dialect: Dialect, connection: DatabaseConnection) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), { provideConnection: (use) => use(connection) });
    this.#connection = connection;
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery<R>(query);
  }
}

/** Returns a Kysely transaction on a connection. The caller must begin and end the transaction. */
export function createTransactionOn(
  connection: DatabaseConnection,
  dialect: Dialect,
  driver: Driver,
): Transaction<Rows> {
  return new Transaction<Rows>({
    config: { dialect },
    dialect,
    driver,
    executor: new ConnectionExecutor(dialect, connection),
  });
}
