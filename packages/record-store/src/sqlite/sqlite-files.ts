import { statSync } from 'node:fs';

/** Returns an identifier of the file at a path; undefined if the file does not exist. */
function fileIdentity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Detects whether the files of an open SQLite database have been removed or replaced. The process would then continue
 * to write to files without a path. Those writes would be lost, and SQLite does not report the loss.
 */
export class SqliteFiles {
  readonly #path: string;
  readonly #file: string | undefined;
  #log: string | undefined;

  /** Records which files are open. Must be called immediately after the database is opened. */
  constructor(path: string) {
    this.#path = path;
    this.#file = fileIdentity(path);
  }

  /** Returns whether the paths still lead to the opened files. The two system calls take a few microseconds. */
  areInPlace(): boolean {
    if (this.#file === undefined || fileIdentity(this.#path) !== this.#file) return false;
    // The log is created by the first write and exists until the database is closed.
    const log = fileIdentity(`${this.#path}-wal`);
    this.#log ??= log;
    return log === this.#log;
  }
}
