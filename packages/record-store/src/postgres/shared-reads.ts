import { AsyncResource } from 'node:async_hooks';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { PreparedQuery } from '../batching/prepared-query.js';
import type { ExecuteAlone } from '../store/pool-executor.js';

/** The maximum number of statements on one connection: the server executes them one after the other. */
const MAX_SHARED = 8;

interface WaitingRead {
  readonly start: (connection: DatabaseConnection) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** Returns whether a statement is a frequent query, which is short, and has not waited for others yet. */
function isHotRead(query: CompiledQuery & Partial<PreparedQuery>): boolean {
  return query.preparedName !== undefined && !query.isBatched && query.query.kind === 'SelectQueryNode';
}

/**
 * Executes the frequent queries of one turn of the event loop on shared connections. They are sent in one packet and
 * their results arrive in one, which costs less than a connection and two system calls for each. They remain separate
 * statements: one that fails does not affect the others.
 *
 * @param traced whether each query keeps the asynchronous context of its caller
 */
export function sharedReads(driver: Driver, alone: ExecuteAlone, traced: boolean): ExecuteAlone {
  let waiting: WaitingRead[] = [];

  async function sendShared(reads: readonly WaitingRead[]): Promise<void> {
    let connection: DatabaseConnection;
    try {
      connection = await driver.acquireConnection();
    } catch (error) {
      for (const { reject } of reads) reject(error);
      return;
    }
    await Promise.all(reads.map(({ start }) => start(connection)));
    await driver.releaseConnection(connection);
  }

  function send(): void {
    const all = waiting;
    waiting = [];
    for (let begin = 0; begin < all.length; begin += MAX_SHARED) void sendShared(all.slice(begin, begin + MAX_SHARED));
  }

  return <R>(query: CompiledQuery) => {
    if (!isHotRead(query)) return alone<R>(query);
    return new Promise<QueryResult<R>>((resolve, reject) => {
      const execute = (connection: DatabaseConnection) => connection.executeQuery<R>(query).then(resolve, reject);
      if (waiting.push({ start: traced ? AsyncResource.bind(execute) : execute, reject }) === 1) setImmediate(send);
    });
  };
}
