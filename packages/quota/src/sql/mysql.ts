import { retryOnConflict } from './retry-on-conflict.js';
import type { SqlDatabase, SqlRow, SqlValue, Statement, Steps } from './sql-database.js';

interface MysqlQuery {
  readonly sql: string;
  readonly values?: SqlValue[];
  readonly rowsAsArray: false;
}

interface MysqlConnection {
  query(sql: string): Promise<unknown>;
  /** Resolves to the rows of a query, or to the number of rows that a write statement matched. */
  execute(query: MysqlQuery): Promise<[unknown, ...unknown[]]>;
  release(): void;
  destroy(): void;
}

/** The part of a `mysql2/promise` pool that the store uses. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/**
 * The statements that begin a transaction. With READ COMMITTED, statements lock only the rows that they find, so that
 * transactions for different projects do not wait for each other. The isolation level applies only to the next
 * transaction.
 */
const BEGIN_STATEMENTS = [
  'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'START TRANSACTION',
  'SET @quota_now = CAST(unix_timestamp(now(3)) * 1000 AS SIGNED)',
];

/** Adapts a `mysql2/promise` pool (`createPool(url)`) to the SQL store, for MariaDB 10.6 or later. */
export function mysql(pool: MysqlPool): SqlDatabase {
  return {
    dialect: 'mysql',
    // The caller's transactions run on other connections, because each transaction of the store uses its own.
    isInTransaction: () => false,
    transaction: (work) => retryOnConflict(() => withConnection(pool, (connection) => runSteps(connection, work()))),
  };
}

async function withConnection<T>(pool: MysqlPool, work: (connection: MysqlConnection) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection();
  let isBroken = false;
  try {
    return await work(connection);
  } catch (error) {
    // If the rollback fails, the connection cannot be reused.
    await connection.query('ROLLBACK').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    if (isBroken) connection.destroy();
    else connection.release();
  }
}

async function runSteps<T>(connection: MysqlConnection, steps: Steps<T>): Promise<T> {
  for (const sql of BEGIN_STATEMENTS) await connection.query(sql);
  let step = steps.next([]);
  while (!step.done) step = steps.next(await rowsOf(connection, step.value));
  await connection.query('COMMIT');
  return step.value;
}

/**
 * Returns the rows that one of the statements reads or, if none reads rows, an empty row for each row that the last one
 * matched.
 */
async function rowsOf(connection: MysqlConnection, { sql, parameters }: Statement): Promise<readonly SqlRow[]> {
  let rows: readonly SqlRow[] | undefined;
  let matchedRows = 0;
  for (const statementText of sql.split(';')) {
    const [result] = await connection.execute({
      sql: statementText,
      values: parameters.map(parameterOf),
      rowsAsArray: false,
    });
    if (Array.isArray(result)) rows = result;
    else matchedRows = (result as { affectedRows: number }).affectedRows;
  }
  return rows ?? Array.from({ length: matchedRows }, () => ({}));
}

/**
 * Converts a parameter to a string, because the driver would send numbers as floating-point values, which `LIMIT` does
 * not accept.
 */
function parameterOf(value: SqlValue): SqlValue {
  return value === null ? null : String(value);
}
