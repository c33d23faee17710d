import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';

/** A statement that is executed repeatedly with different parameters. */
export interface PreparedQuery extends CompiledQuery {
  /** The name of the prepared statement on a connection to PostgreSQL. */
  readonly preparedName: string;
  /** Whether each execution already serves several callers, which have waited for each other. */
  readonly isBatched?: boolean;
}

const names = new Map<string, string>();

/**
 * Marks a statement to be prepared by the database. Only for SQL that the program contains, so that the number of
 * prepared statements is bounded. The name is derived from the SQL: behind a pooler, a session may contain statements
 * of another process, which must not be confused with statements of this one.
 */
export function preparedQuery(query: CompiledQuery): PreparedQuery {
  let preparedName = names.get(query.sql);
  if (preparedName === undefined) names.set(query.sql, (preparedName = nameOf(query.sql)));
  return { ...query, preparedName };
}

function nameOf(text: string): string {
  return `hot_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
