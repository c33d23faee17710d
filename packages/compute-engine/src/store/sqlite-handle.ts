import { createRequire } from 'node:module';

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint };
}

/** What both SQLite libraries offer; `returnsRows` and `inTransaction` are the things they tell in different ways. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
  returnsRows(statement: SqliteStatement): boolean;
  /** Whether a transaction is open: some errors end it without being asked. */
  inTransaction(): boolean;
}

/** Whether this Node has `node:sqlite` with all that is asked of it: some of that is told by each database alone. */
export function hasBuiltinSqlite(): boolean {
  const builtin = process.getBuiltinModule?.('node:sqlite') as any;
  if (!builtin?.StatementSync.prototype.columns) return false;
  const db = new builtin.DatabaseSync(':memory:');
  const tells = typeof db.isTransaction === 'boolean';
  db.close();
  return tells;
}

/**
 * Opens a database with `node:sqlite` where this Node has it, with better-sqlite3 otherwise.
 * @param options.readOnly it has to be there, and nothing in it is changed
 */
export function openSqlite(path: string, { readOnly = false }: { readonly readOnly?: boolean } = {}): SqliteHandle {
  if (hasBuiltinSqlite()) {
    const builtin = process.getBuiltinModule('node:sqlite') as any;
    const db = new builtin.DatabaseSync(path, { readOnly });
    return {
      prepare: (sql) => db.prepare(sql),
      exec: (sql) => db.exec(sql),
      close: () => db.close(),
      returnsRows: (statement) => (statement as SqliteStatement & { columns(): unknown[] }).columns().length > 0,
      inTransaction: () => db.isTransaction,
    };
  }
  const BetterSqlite = createRequire(import.meta.url)('better-sqlite3');
  const db = new BetterSqlite(path, { readonly: readOnly });
  return {
    prepare: (sql) => db.prepare(sql),
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    returnsRows: (statement) => (statement as SqliteStatement & { reader: boolean }).reader,
    inTransaction: () => db.inTransaction,
  };
}
