import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { PreparedQuery } from '../batching/prepared-query.js';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { ask, type ClientResult, type PostgresClient } from './postgres-query.js';

/** Whether statements are kept by name on the server; shared by the connections of a pool. */
export interface StatementKeeping {
  works: boolean;
}

/** Refusals after which the connection is as good as before: a lock, a time limit, no room. */
const HARMLESS = /^(55P03|57014|53100|53200|53400)$/;

/** A name that this session of the server does not know, or knows already: a pooler has changed the session. */
const FOREIGN_SESSION = /^(26000|42P05)$/;

const CHANGES = /^(INSERT|UPDATE|DELETE|MERGE)$/;

const codeOf = (error: unknown) => String((error as { readonly code?: unknown } | undefined)?.code);

/**
 * A connection that is thrown away, not given back, once it has failed. Statements need not wait for each other's
 * answers: those of one turn of the event loop travel together, and the server answers them in order.
 */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PostgresClient;
  readonly #keeping: StatementKeeping;
  #lost: DatabaseUnavailable | undefined;
  #corked = false;
  #inTransaction = false;

  constructor(client: PostgresClient, keeping: StatementKeeping) {
    this.#client = client;
    this.#keeping = keeping;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#lost) throw this.#lost;
    const { sql: text } = query;
    const name = this.#keeping.works ? (query as Partial<PreparedQuery>).preparedName : undefined;
    if (text.startsWith('begin')) this.#inTransaction = true;
    try {
      const { command, rowCount, rows } = await this.#ask(query, name);
      // A transaction in which something failed unnoticed ends so, without an error of its own.
      if (text === 'commit' && command !== 'COMMIT') throw new DatabaseUnavailable('broken', command);
      return { rows: rows as R[], numAffectedRows: CHANGES.test(command) ? BigInt(rowCount ?? 0) : undefined };
    } catch (error) {
      throw this.#judged(databaseError(error), text);
    } finally {
      if (text === 'commit' || text === 'rollback') this.#inTransaction = false;
    }
  }

  /** Behind a pooler that exchanges sessions no statement is kept from then on; transactions are begun once more. */
  async #ask({ sql: text, parameters: values }: CompiledQuery, name: string | undefined): Promise<ClientResult> {
    this.#cork();
    try {
      return await ask(this.#client, text, values, name);
    } catch (error) {
      if (name === undefined || !FOREIGN_SESSION.test(codeOf(error))) throw error;
      this.#keeping.works = false;
      if (this.#inTransaction) throw error;
      return ask(this.#client, text, values);
    }
  }

  // biome-ignore lint/correctness/useYield: results are never streamed, and the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('results of this database are read by pages, not streamed');
  }

  release(): void {
    this.#client.release(this.#lost !== undefined);
  }

  /** One packet for whatever is asked before the event loop goes on. */
  #cork(): void {
    const stream = this.#client.connection?.stream;
    if (this.#corked || !stream) return;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  #judged(error: unknown, text: string): unknown {
    if (error instanceof DatabaseUnavailable && !HARMLESS.test(codeOf(error.cause))) this.#lost = error;
    // Of no use to the next one, in whatever state it is.
    if (text === 'rollback') this.#lost ??= new DatabaseUnavailable('away', error);
    return error;
  }
}
