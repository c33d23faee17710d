/**
 * Returns whether a database is a SQLite file, as opposed to PostgreSQL or an in-memory database. Only a SQLite file
 * can have other files next to it.
 */
export function isSqliteFile(database: string): boolean {
  return database !== ':memory:' && !/^postgres(ql)?:/.test(database);
}
