export { type MysqlPool, mysql } from './mysql.js';
export { type PostgresPool, postgres } from './postgres.js';
export type { SqlDatabase, SqlResult, SqlRow, SqlValue, Statement, Steps } from './sql-database.js';
export { type SqlStore, type SqlStoreOptions, sqlStore } from './sql-store.js';
export { type SqliteConnection, sqlite } from './sqlite.js';
