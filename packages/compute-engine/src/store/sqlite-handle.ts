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

/** A statement of better-sqlite3 that gives rows. The library takes twice as long to make objects of them as this does. */
class RowStatement implements SqliteStatement {
  readonly #statement: any;
  #names: readonly string[];

  constructor(statement: any) {
    this.#statement = statement.raw();
    this.#names = this.#namesOfColumns();
  }

  all(...parameters: unknown[]): unknown[] {
    const rows: unknown[][] = this.#statement.all(...parameters);
    // What all columns of a table are may have changed since it was asked for.
    if (rows[0] && rows[0].length !== this.#names.length) this.#names = this.#namesOfColumns();
    const names = this.#names;
    return rows.map((values) => {
      const row: Record<string, unknown> = {};
      for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
      return row;
    });
  }

  run(...parameters: unknown[]): { changes: number | bigint } {
    return this.#statement.run(...parameters);
  }

  #namesOfColumns(): readonly string[] {
    return this.#statement.columns().map(({ name }: { name: string }) => name);
  }
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
    prepare: (sql) => {
      const statement = db.prepare(sql);
      return statement.reader ? new RowStatement(statement) : statement;
    },
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    returnsRows: (statement) => statement instanceof RowStatement,
    inTransaction: () => db.inTransaction,
  };
}
