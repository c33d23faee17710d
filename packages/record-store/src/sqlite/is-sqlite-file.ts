/**
 * Returns whether a database is a SQLite file, which can have other files next to it, and not PostgreSQL or in memory.
 */
export function isSqliteFile(database: string): boolean {
  return database !== ':memory:' && !/^postgres(ql)?:/.test(database);
}
