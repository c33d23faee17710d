import { AsyncResource } from 'node:async_hooks';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { ExecuteAlone } from '../store/pool-executor.js';
import type { PreparedQuery } from './prepared-query.js';

/** The maximum number of statements on one connection, which executes them one after the other. */
const MAX_SHARED = 8;

/** A connection that can run several statements in one read transaction, without waiting for locks. */
export interface ReadingConnection extends DatabaseConnection {
  readTogether?<T>(start: () => T): T;
}

interface WaitingRead {
  /** Starts the statement. When it has ended, resolves to whether it must be executed again without others. */
  readonly start: (connection: DatabaseConnection) => Promise<boolean>;
  readonly alone: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** How frequent queries are shared. */
export interface SharedReadsOptions {
  /** Whether each query keeps the asynchronous context of its caller. */
  readonly traced: boolean;
  /** The number of queries that do not wait for others after a query that no other query joined. */
  readonly aloneAfterOne: number;
}

/** Returns whether a statement is a frequent query, which is short, and has not waited for others yet. */
function isHotRead(query: CompiledQuery & Partial<PreparedQuery>): boolean {
  return query.preparedName !== undefined && !query.isBatched && query.query.kind === 'SelectQueryNode';
}

const isLocked = (error: unknown) => error instanceof DatabaseUnavailable && error.failure === 'busy';

/**
 * Executes the frequent queries of one turn of the event loop on shared connections, which costs less than a connection
 * and system calls for each. On PostgreSQL, they are sent in one packet and their results arrive in one; on SQLite,
 * they share the lock of one transaction. They remain separate statements: one that fails does not affect the others.
 */
export function sharedReads(
  driver: Driver,
  executeAlone: ExecuteAlone,
  { traced, aloneAfterOne }: SharedReadsOptions,
): ExecuteAlone {
  let waiting: WaitingRead[] = [];
  let remainingAlone = 0;

  async function execute(reads: readonly WaitingRead[]): Promise<void> {
    let locked: readonly boolean[];
    try {
      const connection = await driver.acquireConnection();
      try {
        locked = await Promise.all(startAll(connection, reads));
      } finally {
        await driver.releaseConnection(connection);
      }
    } catch (error) {
      // This has no effect on queries that have ended.
      for (const { reject } of reads) reject(error);
      return;
    }
    await Promise.all(reads.filter((_read, index) => locked[index]).map(({ alone }) => alone()));
  }

  function executeWaiting(): void {
    const all = waiting;
    waiting = [];
    if (all.length === 1) remainingAlone = aloneAfterOne;
    for (let begin = 0; begin < all.length; begin += MAX_SHARED) void execute(all.slice(begin, begin + MAX_SHARED));
  }

  return <R>(query: CompiledQuery) => {
    if (!isHotRead(query)) return executeAlone<R>(query);
    if (remainingAlone > 0) {
      remainingAlone--;
      return executeAlone<R>(query);
    }
    return new Promise<QueryResult<R>>((resolve, reject) => {
      const start = (connection: ReadingConnection) =>
        connection.executeQuery<R>(query).then(
          (result) => {
            resolve(result);
            return false;
          },
          (error) => {
            if (connection.readTogether && isLocked(error)) return true;
            reject(error);
            return false;
          },
        );
      const read = {
        start: traced ? AsyncResource.bind(start) : start,
        alone: () => executeAlone<R>(query).then(resolve, reject),
        reject,
      };
      if (waiting.push(read) === 1) setImmediate(executeWaiting);
    });
  };
}

function startAll(connection: ReadingConnection, reads: readonly WaitingRead[]): readonly Promise<boolean>[] {
  const start = () => reads.map((read) => read.start(connection));
  return reads.length > 1 && connection.readTogether ? connection.readTogether(start) : start();
}
