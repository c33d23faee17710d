import { statSync } from 'node:fs';

/** Returns an identifier of the file at a path; undefined if there is none. */
function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * The files of an open SQLite database. If they are removed or replaced, the process still writes to the old files,
 * to which no path leads: the writes are lost, and SQLite does not report it.
 */
export class SqliteFiles {
  readonly #path: string;
  readonly #file: string | undefined;
  #log: string | undefined;

  /** Records which files are open. Must be called immediately after the database is opened. */
  constructor(path: string) {
    this.#path = path;
    this.#file = fileAt(path);
  }

  /** Returns whether the paths still lead to the opened files. This takes two system calls of a few microseconds. */
  areInPlace(): boolean {
    if (this.#file === undefined || fileAt(this.#path) !== this.#file) return false;
    // The log is created by the first write and exists until the database is closed.
    const log = fileAt(`${this.#path}-wal`);
    this.#log ??= log;
    return log === this.#log;
  }
}
