import { AsyncResource } from 'node:async_hooks';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { ExecuteAlone } from '../store/pool-executor.js';
import type { PreparedQuery } from './prepared-query.js';

/** The maximum number of statements that share one connection, which executes them one after the other. */
const MAX_SHARED_READS = 8;

/** A connection that may support running several statements in one read transaction without waiting for locks. */
export interface SharedReadConnection extends DatabaseConnection {
  readTogether?<T>(start: () => T): T;
}

interface PendingRead {
  /**
   * Executes the query. Resolves to true if the database was locked and the query must be executed again on its own.
   */
  readonly start: (connection: DatabaseConnection) => Promise<boolean>;
  readonly alone: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** Options for executing frequent queries on shared connections. */
export interface SharedReadsOptions {
  /** Whether each query keeps its caller's asynchronous context. */
  readonly traced: boolean;
  /** If a query waited and no other query joined it, this many of the following queries start without waiting. */
  readonly unsharedReadsAfterLoneRead: number;
}

/** Returns whether a statement is a prepared query that is not batched yet. Prepared queries are frequent and short. */
function isUnbatchedPreparedRead(query: CompiledQuery & Partial<PreparedQuery>): boolean {
  return query.preparedName !== undefined && !query.isBatched && query.query.kind === 'SelectQueryNode';
}

const isLockError = (error: unknown) => error instanceof DatabaseUnavailable && error.failure === 'busy';

/**
 * Executes the frequent queries from one turn of the event loop on shared connections. This costs less than a separate
 * connection and separate system calls for each query. On PostgreSQL, the queries are sent in one packet, and so are
 * their results; on SQLite, they share one transaction's lock. They remain separate statements, so a failed query does
 * not affect the others.
 */
export function shareReads(
  driver: Driver,
  executeAlone: ExecuteAlone,
  { traced: isTraced, unsharedReadsAfterLoneRead: unsharedReadCount }: SharedReadsOptions,
): ExecuteAlone {
  let waitingReads: PendingRead[] = [];
  let remainingUnsharedReads = 0;

  async function execute(reads: readonly PendingRead[]): Promise<void> {
    let lockFailures: readonly boolean[];
    try {
      const connection = await driver.acquireConnection();
      try {
        lockFailures = await Promise.all(startReads(connection, reads));
      } finally {
        await driver.releaseConnection(connection);
      }
    } catch (error) {
      // Rejecting has no effect on promises that are already settled.
      for (const { reject } of reads) reject(error);
      return;
    }
    await Promise.all(reads.filter((_read, index) => lockFailures[index]).map(({ alone }) => alone()));
  }

  function executeWaiting(): void {
    const pendingReads = waitingReads;
    waitingReads = [];
    if (pendingReads.length === 1) remainingUnsharedReads = unsharedReadCount;
    for (let begin = 0; begin < pendingReads.length; begin += MAX_SHARED_READS)
      void execute(pendingReads.slice(begin, begin + MAX_SHARED_READS));
  }

  return <R>(query: CompiledQuery) => {
    if (!isUnbatchedPreparedRead(query)) return executeAlone<R>(query);
    if (remainingUnsharedReads > 0) {
      remainingUnsharedReads--;
      return executeAlone<R>(query);
    }
    return new Promise<QueryResult<R>>((resolve, reject) => {
      const start = (connection: SharedReadConnection) =>
        connection.executeQuery<R>(query).then(
          (result) => {
            resolve(result);
            return false;
          },
          (error) => {
            if (connection.readTogether && isLockError(error)) return true;
            reject(error);
            return false;
          },
        );
      const read = {
        start: isTraced ? AsyncResource.bind(start) : start,
        alone: () => executeAlone<R>(query).then(resolve, reject),
        reject,
      };
      if (waitingReads.push(read) === 1) setImmediate(executeWaiting);
    });
  };
}

function startReads(connection: SharedReadConnection, reads: readonly PendingRead[]): readonly Promise<boolean>[] {
  const start = () => reads.map((read) => read.start(connection));
  return reads.length > 1 && connection.readTogether ? connection.readTogether(start) : start();
}
