import type { SqlDatabase, SqlRow, Statement, Steps } from './sql-database.js';

interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): unknown;
}

/** What `better-sqlite3` and `node:sqlite` have in common. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  /** `better-sqlite3`: whether a transaction is open. */
  readonly inTransaction?: boolean;
  /** `node:sqlite`: the same. */
  readonly isTransaction?: boolean;
}

/**
 * A database of `better-sqlite3` (`new Database(file)`) or of `node:sqlite` (`new DatabaseSync(file)`) for the SQL
 * store. Inside a transaction of the caller its steps become part of that one.
 */
export function sqlite(connection: SqliteConnection): SqlDatabase {
  const prepared = new Map<string, SqliteStatement>();

  function run({ sql, parameters, returns }: Statement): readonly SqlRow[] {
    let statement = prepared.get(sql);
    if (!statement) {
      statement = connection.prepare(sql);
      prepared.set(sql, statement);
    }
    if (returns) return statement.all(...parameters) as SqlRow[];
    statement.run(...parameters);
    return [];
  }

  function drive<T>(steps: Steps<T>): T {
    let step = steps.next([]);
    while (!step.done) step = steps.next(run(step.value));
    return step.value;
  }

  const isInTransaction = () => connection.inTransaction ?? connection.isTransaction ?? false;

  return {
    dialect: 'sqlite',
    isInTransaction,
    transaction<T>(work: () => Steps<T>): T {
      const nested = isInTransaction();
      // IMMEDIATE: other processes that write wait here, not in the middle where they could only fail.
      connection.exec(nested ? 'SAVEPOINT apistrata_quota' : 'BEGIN IMMEDIATE');
      try {
        const result = drive(work());
        connection.exec(nested ? 'RELEASE apistrata_quota' : 'COMMIT');
        return result;
      } catch (error) {
        connection.exec(nested ? 'ROLLBACK TO apistrata_quota; RELEASE apistrata_quota' : 'ROLLBACK');
        throw error;
      }
    },
  };
}
