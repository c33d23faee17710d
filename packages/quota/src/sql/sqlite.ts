import type { SqlDatabase, SqlRow, Statement, Steps } from './sql-database.js';

interface SqliteStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): unknown;
}

/** The methods that `better-sqlite3` and `node:sqlite` connections have in common. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  /** Whether a transaction is open, in `better-sqlite3`. */
  readonly inTransaction?: boolean;
  /** Whether a transaction is open, in `node:sqlite`. */
  readonly isTransaction?: boolean;
}

/**
 * Adapts a `better-sqlite3` database (`new Database(file)`) or a `node:sqlite` database (`new DatabaseSync(file)`) to
 * the SQL store. If the caller has opened a transaction, the store's statements become part of it.
 */
export function sqlite(connection: SqliteConnection): SqlDatabase {
  const statementsBySql = new Map<string, SqliteStatement>();

  function runStatement({ sql, parameters, returns }: Statement): readonly SqlRow[] {
    let statement = statementsBySql.get(sql);
    if (!statement) {
      statement = connection.prepare(sql);
      statementsBySql.set(sql, statement);
    }
    if (returns) return statement.all(...parameters) as SqlRow[];
    statement.run(...parameters);
    return [];
  }

  function runSteps<T>(steps: Steps<T>): T {
    let step = steps.next([]);
    while (!step.done) step = steps.next(runStatement(step.value));
    return step.value;
  }

  const isInTransaction = () => connection.inTransaction ?? connection.isTransaction ?? false;

  return {
    dialect: 'sqlite',
    isInTransaction,
    transaction<T>(work: () => Steps<T>): T {
      const isNested = isInTransaction();
      // IMMEDIATE locks the database now, so that other writers wait here instead of failing in the middle of a transaction.
      connection.exec(isNested ? 'SAVEPOINT apistrata_quota' : 'BEGIN IMMEDIATE');
      try {
        const result = runSteps(work());
        connection.exec(isNested ? 'RELEASE apistrata_quota' : 'COMMIT');
        return result;
      } catch (error) {
        connection.exec(isNested ? 'ROLLBACK TO apistrata_quota; RELEASE apistrata_quota' : 'ROLLBACK');
        throw error;
      }
    },
  };
}
