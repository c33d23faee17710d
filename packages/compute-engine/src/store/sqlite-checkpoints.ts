import { SqliteThread } from './sqlite-thread.js';

/** After how many statements that write the log is worth being copied: some thousand pages. */
const STATEMENTS = 1000;

/**
 * Copies what the log of an open SQLite file holds into the file, in a thread of its own. SQLite would do that within a
 * commit, with two syncs, and stop the whole process meanwhile; it still does what is left when the log gets long, for only
 * in a commit nobody else writes to it.
 */
export class SqliteCheckpoints {
  readonly #path: string;
  #thread: SqliteThread | undefined;
  #written = 0;
  #running: Promise<void> | undefined;

  /** @param path of the database */
  constructor(path: string) {
    this.#path = path;
  }

  /** To be told of statements that have written something, once that is committed. */
  wrote(statements: number): void {
    this.#written += statements;
    if (this.#written < STATEMENTS || this.#running) return;
    this.#written = 0;
    this.#running = this.#copy().finally(() => {
      this.#running = undefined;
    });
  }

  /** Never rejects: what could not be copied now is copied with what comes after it. */
  async #copy(): Promise<void> {
    if (!this.#thread?.usable) this.#thread = new SqliteThread({ path: this.#path, readOnly: false });
    await this.#thread.ask('pragma wal_checkpoint(passive)', []).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#thread?.end();
  }
}
