import type { MessagePort } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';

interface ReaderQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

type ReaderResult =
  | { readonly rows: readonly unknown[] }
  | { readonly error: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown } };

/**
 * Executes queries in the worker thread. The thread receives this function as source code, so that bundles of this
 * package need no separate file. The function must therefore not refer to names outside itself.
 */
function serveQueries(): void {
  // The main thread has already printed the warnings that libraries emit.
  process.removeAllListeners('warning');
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { path } = workerData as { path: string };
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  let db: any;
  const statementCache = new Map<string, any>();
  const rows = ({ sql, parameters }: ReaderQuery): readonly unknown[] => {
    db ??= new DatabaseSync(path, { readOnly: true });
    let statement = statementCache.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      if (statementCache.size >= 200) statementCache.delete(statementCache.keys().next().value ?? sql);
      statementCache.set(sql, statement);
    }
    return statement.all(...parameters);
  };
  const port = parentPort as MessagePort;
  port.on('message', (query: ReaderQuery) => {
    try {
      port.postMessage({ rows: rows(query) });
    } catch (error) {
      const { message, code, errcode } = error as { message: string; code?: unknown; errcode?: unknown };
      port.postMessage({ error: { message, code, errcode } });
    }
  });
}

/** A read-only connection to a SQLite file in a separate thread. It executes one query at a time. */
export class SqliteReader {
  readonly #thread: Worker;
  #pending:
    | { readonly resolve: (rows: readonly unknown[]) => void; readonly reject: (error: unknown) => void }
    | undefined;
  #ended = false;

  constructor(path: string) {
    this.#thread = new Worker(`(${serveQueries})()`, { eval: true, workerData: { path } });
    this.#thread.unref();
    this.#thread.on('message', (result: ReaderResult) => this.#complete(result));
    const end = (cause: unknown) => {
      this.#ended = true;
      this.#complete({ error: new DatabaseUnavailable('unreachable', cause) });
    };
    this.#thread.on('error', end).on('exit', () => end(new Error('the thread has ended')));
  }

  /** Whether the thread can execute more queries. */
  get isUsable(): boolean {
    return !this.#ended;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<R[]> {
    if (this.#ended) return Promise.reject(new DatabaseUnavailable('unreachable'));
    // The thread keeps the process alive only while a query is pending.
    this.#thread.ref();
    return new Promise<readonly unknown[]>((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#thread.postMessage({ sql, parameters });
    }) as Promise<R[]>;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#thread.terminate();
  }

  #complete(response: ReaderResult): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#thread.unref();
    if ('rows' in response) pending?.resolve(response.rows);
    else
      pending?.reject(
        databaseError(response.error instanceof Error ? response.error : Object.assign(new Error(), response.error)),
      );
  }
}
