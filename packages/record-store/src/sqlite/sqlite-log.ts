import { type FileHandle, open } from 'node:fs/promises';

/**
 * The write-ahead log of an open SQLite file. Another thread syncs it to disk, because SQLite would sync it during the
 * commit and block the whole process in the meantime.
 */
export class SqliteLog {
  readonly #path: string;
  #file: FileHandle | undefined;
  #runningSync: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;
  #failure: unknown;

  /** @param path the path of the database */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /**
   * Resolves when all earlier commits are on disk. Rejects if the disk fails. All later calls then reject with the same
   * error, because a later sync would not prove that the earlier data was written.
   */
  sync(): Promise<void> {
    // The running sync may have started before the last commit, so callers that arrive during that sync wait for the
    // next one.
    this.#nextSync ??= this.#syncAfterRunning();
    return this.#nextSync;
  }

  async #syncAfterRunning(): Promise<void> {
    // The callers of the running sync receive its error.
    await this.#runningSync?.catch(() => undefined);
    this.#nextSync = undefined;
    this.#runningSync = this.#syncFile();
    await this.#runningSync;
  }

  async #syncFile(): Promise<void> {
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
    // A pending sync may still be opening the file.
    await this.#nextSync?.catch(() => undefined);
    await this.#runningSync?.catch(() => undefined);
    await this.#file?.close();
  }
}
