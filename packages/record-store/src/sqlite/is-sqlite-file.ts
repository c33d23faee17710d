/**
 * Returns whether a database is a SQLite file, which has folders and files next to it; not PostgreSQL, and not in
 * memory.
 */
export function isSqliteFile(database: string): boolean {
  return database !== ':memory:' && !/^postgres(ql)?:/.test(database);
}
