/** Whether a database is a SQLite file, which has folders and files beside it; not PostgreSQL, not one in memory. */
export function isSqliteFile(database: string): boolean {
  return database !== ':memory:' && !/^postgres(ql)?:/.test(database);
}
