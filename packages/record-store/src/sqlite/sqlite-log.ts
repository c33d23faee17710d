import { type FileHandle, open } from 'node:fs/promises';

/**
 * The log of an open SQLite file, which ends with the last commit. It is synced to disk by another thread, because
 * SQLite would sync it within the commit and block the whole process in the meantime.
 */
export class SqliteLog {
  readonly #path: string;
  #file: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failure: unknown;

  /** @param path path of the database */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /**
   * Resolves when all earlier commits are on disk. Rejects if the disk fails, and from then on with the same error,
   * because later syncs would not prove that the earlier data was written.
   */
  sync(): Promise<void> {
    // The running sync may have started before the last commit, so callers that arrive during it wait for the next one.
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<void> {
    // Its callers receive the error.
    await this.#running?.catch(() => undefined);
    this.#next = undefined;
    this.#running = this.#write();
    await this.#running;
  }

  async #write(): Promise<void> {
    if (this.#failure) throw this.#failure;
    // The log is created by the first write and exists until the database is closed.
    this.#file ??= await open(this.#path, 'r+');
    try {
      await this.#file.datasync();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async close(): Promise<void> {
    // A sync may be opening the file.
    await this.#next?.catch(() => undefined);
    await this.#running?.catch(() => undefined);
    await this.#file?.close();
  }
}
