import { type FileHandle, open } from 'node:fs/promises';

/**
 * The log of an open SQLite file, which has each commit at its end. It is brought to the disk by a thread of its own: SQLite
 * would do that within the commit, and stop the whole process for as long as the disk takes.
 */
export class SqliteLog {
  readonly #path: string;
  #file: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failure: unknown;

  /** @param path of the database */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /**
   * Resolves when all that was committed before is on the disk. Throws the error of the disk; once it has, always: what a
   * disk says after that of what it had then is nothing to rely on.
   */
  sync(): Promise<void> {
    // What runs may have begun before the last commit; whoever comes while it runs is served by the one after it.
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<void> {
    // How that ends is told to those who wait for it.
    await this.#running?.catch(() => undefined);
    this.#next = undefined;
    this.#running = this.#write();
    await this.#running;
  }

  async #write(): Promise<void> {
    if (this.#failure) throw this.#failure;
    // It comes into being with the first write, and stays until the database is closed.
    this.#file ??= await open(this.#path, 'r+');
    try {
      await this.#file.datasync();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
