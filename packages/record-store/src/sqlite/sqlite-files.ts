import { statSync } from 'node:fs';

/** Which file a path leads to; undefined for none. */
function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * The files of an open SQLite database. Whoever removes or replaces them leaves the process with files that nobody will
 * ever find again: what is written to those is lost, and SQLite does not say so.
 */
export class SqliteFiles {
  readonly #path: string;
  readonly #file: string | undefined;
  #log: string | undefined;

  /** To be made when the database has just been opened. */
  constructor(path: string) {
    this.#path = path;
    this.#file = fileAt(path);
  }

  /** Whether the paths still lead to the files that were opened: two questions of a few microseconds. */
  inPlace(): boolean {
    if (this.#file === undefined || fileAt(this.#path) !== this.#file) return false;
    // The log comes into being with the first write, and stays until the database is closed.
    const log = fileAt(`${this.#path}-wal`);
    this.#log ??= log;
    return log === this.#log;
  }
}
