import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';

/** A statement that is executed repeatedly with different parameters. */
export interface PreparedQuery extends CompiledQuery {
  /** The name of the prepared statement on a PostgreSQL connection. */
  readonly preparedName: string;
  /** Whether each execution already serves several callers, so that it starts without waiting for other queries. */
  readonly isBatched?: boolean;
}

const names = new Map<string, string>();

/**
 * Marks a statement to be prepared by the database. Use it only for SQL from the program's source code, so that the
 * number of prepared statements is bounded. The name is a digest of the SQL, because a session behind a pooler may
 * contain other statements that another process prepared.
 */
export function preparedQuery(query: CompiledQuery): PreparedQuery {
  let preparedName = names.get(query.sql);
  if (preparedName === undefined) names.set(query.sql, (preparedName = nameOf(query.sql)));
  return { ...query, preparedName };
}

function nameOf(text: string): string {
  return `hot_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
