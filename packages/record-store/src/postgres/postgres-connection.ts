import type { CompiledQuery, QueryResult } from 'kysely';
import type { PreparedQuery } from '../batching/prepared-query.js';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { BufferedConnection } from '../store/buffered-connection.js';
import type { ClientResult } from './named-statement.js';
import { executeStatement, type PostgresClient } from './postgres-query.js';

/** Whether named prepared statements can be used. All connections in a pool share this object. */
export interface StatementPreparation {
  isSupported: boolean;
}

/** Matches the codes of errors after which a connection can be reused: lock, timeout, insufficient resources. */
const REUSABLE_CONNECTION_CODES = /^(55P03|57014|53100|53200|53400)$/;

/**
 * Matches the codes of errors for prepared statements that are missing or duplicate because a pooler switched the
 * session.
 */
const SWITCHED_SESSION_CODES = /^(26000|42P05)$/;

const CHANGE_COMMANDS = /^(INSERT|UPDATE|DELETE|MERGE)$/;

const codeOf = (error: unknown) => String((error as { readonly code?: unknown } | undefined)?.code);

/**
 * A PostgreSQL connection. After it has failed, it is closed instead of returned to the pool. Statements are pipelined:
 * those from one turn of the event loop are sent together, and the server responds in order.
 */
export class PostgresConnection extends BufferedConnection {
  readonly #client: PostgresClient;
  readonly #preparation: StatementPreparation;
  #connectionError: DatabaseUnavailable | undefined;
  #isCorked = false;
  #inTransaction = false;

  constructor(client: PostgresClient, preparation: StatementPreparation) {
    super();
    this.#client = client;
    this.#preparation = preparation;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#connectionError) throw this.#connectionError;
    const { sql: text } = query;
    const name = this.#preparation.isSupported ? (query as Partial<PreparedQuery>).preparedName : undefined;
    if (text.startsWith('begin')) this.#inTransaction = true;
    try {
      const { command, rowCount, rows } = await this.#query(query, name);
      // If an earlier failure was not noticed, the server responds to the commit with ROLLBACK and without an error.
      if (text === 'commit' && command !== 'COMMIT') throw new DatabaseUnavailable('failed', command);
      return { rows: rows as R[], numAffectedRows: CHANGE_COMMANDS.test(command) ? BigInt(rowCount ?? 0) : undefined };
    } catch (error) {
      throw this.#classifyError(databaseError(error), text);
    } finally {
      if (text === 'commit' || text === 'rollback') this.#inTransaction = false;
    }
  }

  /**
   * Executes a statement. If a pooler switched the session, later statements are not prepared, and this statement or
   * its transaction is retried.
   */
  async #query({ sql: text, parameters: values }: CompiledQuery, name: string | undefined): Promise<ClientResult> {
    this.#corkStream();
    try {
      return await executeStatement(this.#client, text, values, name);
    } catch (error) {
      if (name === undefined || !SWITCHED_SESSION_CODES.test(codeOf(error))) throw error;
      this.#preparation.isSupported = false;
      if (this.#inTransaction) throw error;
      return executeStatement(this.#client, text, values);
    }
  }

  release(): void {
    this.#client.release(this.#connectionError !== undefined);
  }

  /** Sends all statements from one turn of the event loop in one packet. */
  #corkStream(): void {
    const stream = this.#client.connection?.stream;
    if (this.#isCorked || !stream) return;
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  #classifyError(error: unknown, text: string): unknown {
    if (error instanceof DatabaseUnavailable && !REUSABLE_CONNECTION_CODES.test(codeOf(error.cause)))
      this.#connectionError = error;
    // After a failed rollback, the connection cannot be reused, because its state is unknown.
    if (text === 'rollback') this.#connectionError ??= new DatabaseUnavailable('unreachable', error);
    return error;
  }
}
