import { closeSync, openSync } from 'node:fs';
import type * as sqlite from 'node:sqlite';

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint };
  /** The columns that the statement returns; empty if it returns no rows. */
  columns(): readonly { readonly name: string }[];
  /** Sets whether `all` returns the values of each row as an array instead of an object. */
  setReturnArrays(enabled: boolean): void;
}

/** A SQLite database that was opened with Node's built-in library. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
  /** Whether a transaction is open. Some errors roll back the transaction implicitly. */
  readonly isTransaction: boolean;
}

/**
 * Creates a missing database file that only its owner can read and write. SQLite creates related files with the same
 * mode.
 */
function createPrivateFile(path: string): void {
  if (path === ':memory:') return;
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch {
    // The error is ignored, because SQLite reports what is wrong with the path.
  }
}

/**
 * Opens a SQLite database. A new file and its log are readable and writable by their owner only.
 * @param options.readOnly whether the file is only read; the file must then exist
 * @throws Error if this Node version has no SQLite library, or one without the required functions
 */
export function openSqlite(path: string, { readOnly = false }: { readonly readOnly?: boolean } = {}): SqliteHandle {
  // Loaded only when a SQLite database is opened, because an engine on PostgreSQL does not need it.
  const sqliteModule: typeof sqlite | undefined = process.getBuiltinModule?.('node:sqlite');
  // Checks for functions instead of a version, because each release line of Node added them in a different release.
  if (sqliteModule && 'setReturnArrays' in sqliteModule.StatementSync.prototype) {
    if (!readOnly) createPrivateFile(path);
    const db = new sqliteModule.DatabaseSync(path, { readOnly }) as unknown as SqliteHandle;
    if (typeof db.isTransaction === 'boolean') return db;
    db.close();
  }
  throw new Error(
    `A SQLite database needs Node 22.16 or newer; this is Node ${process.versions.node}. Install a newer Node, or use PostgreSQL (npm install pg).`,
  );
}
