import type { MessagePort } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';

interface Question {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

type Answer =
  | { readonly rows: readonly unknown[] }
  | { readonly error: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown } };

/**
 * What runs in the thread, given to it as text: so it needs no file of its own, wherever this package is bundled. It
 * knows nothing of what stands around it here.
 */
function answerQuestions(): void {
  // The main thread has printed the warnings of libraries already.
  process.removeAllListeners('warning');
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { path } = workerData as { path: string };
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  let db: any;
  const known = new Map<string, any>();
  const rows = ({ sql, parameters }: Question): readonly unknown[] => {
    db ??= new DatabaseSync(path, { readOnly: true });
    let statement = known.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      if (known.size >= 200) known.delete(known.keys().next().value!);
      known.set(sql, statement);
    }
    return statement.all(...parameters);
  };
  const port = parentPort as MessagePort;
  port.on('message', (question: Question) => {
    try {
      port.postMessage({ rows: rows(question) });
    } catch (error) {
      const { message, code, errcode } = error as { message: string; code?: unknown; errcode?: unknown };
      port.postMessage({ error: { message, code, errcode } });
    }
  });
}

/** A read-only connection to a SQLite file in a thread of its own. One question at a time. */
export class SqliteReader {
  readonly #thread: Worker;
  #pending:
    | { readonly resolve: (rows: readonly unknown[]) => void; readonly reject: (error: unknown) => void }
    | undefined;
  #ended = false;

  constructor(path: string) {
    this.#thread = new Worker(`(${answerQuestions})()`, { eval: true, workerData: { path } });
    this.#thread.unref();
    this.#thread.on('message', (answer: Answer) => this.#settle(answer));
    const end = (cause: unknown) => {
      this.#ended = true;
      this.#settle({ error: new DatabaseUnavailable('away', cause) });
    };
    this.#thread.on('error', end).on('exit', () => end(new Error('the thread has ended')));
  }

  /** False when nothing more can be asked. */
  get usable(): boolean {
    return !this.#ended;
  }

  ask<R>(sql: string, parameters: readonly unknown[]): Promise<R[]> {
    if (this.#ended) return Promise.reject(new DatabaseUnavailable('away'));
    // The process goes on as long as somebody waits for an answer, and no longer.
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

  #settle(answer: Answer): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#thread.unref();
    if ('rows' in answer) pending?.resolve(answer.rows);
    else
      pending?.reject(
        databaseError(answer.error instanceof Error ? answer.error : Object.assign(new Error(), answer.error)),
      );
  }
}
