import type { SqlDatabase, SqlRow, Statement, Steps } from './sql-database.js';

interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): unknown;
}

/** The interface that `better-sqlite3` and `node:sqlite` have in common. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  /** `better-sqlite3`: whether a transaction is open. */
  readonly inTransaction?: boolean;
  /** `node:sqlite`: whether a transaction is open. */
  readonly isTransaction?: boolean;
}

/**
 * Adapts a database of `better-sqlite3` (`new Database(file)`) or `node:sqlite` (`new DatabaseSync(file)`) to the SQL store.
 * Inside a transaction of the caller, the statements of the store become part of that transaction.
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

  function runSteps<T>(steps: Steps<T>): T {
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
      // IMMEDIATE, so that other writers wait for this statement instead of failing in the middle of a transaction.
      connection.exec(nested ? 'SAVEPOINT apistrata_quota' : 'BEGIN IMMEDIATE');
      try {
        const result = runSteps(work());
        connection.exec(nested ? 'RELEASE apistrata_quota' : 'COMMIT');
        return result;
      } catch (error) {
        connection.exec(nested ? 'ROLLBACK TO apistrata_quota; RELEASE apistrata_quota' : 'ROLLBACK');
        throw error;
      }
    },
  };
}
