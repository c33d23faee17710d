import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';

/** A statement that is executed repeatedly with different parameters. */
export interface PreparedQuery extends CompiledQuery {
  /** The name of the prepared statement on a PostgreSQL connection. */
  readonly preparedName: string;
  /** Whether each execution already serves several callers, so that it starts without waiting for other queries. */
  readonly isBatched?: boolean;
}

const preparedNames = new Map<string, string>();

/**
 * Marks a statement to be prepared by the database. Use it only for SQL from the program's source code, so that the
 * number of prepared statements is bounded. The name is a digest of the SQL, because a session behind a pooler may
 * contain other statements that another process prepared.
 */
export function preparedQuery(query: CompiledQuery): PreparedQuery {
  let preparedName = preparedNames.get(query.sql);
  if (preparedName === undefined) preparedNames.set(query.sql, (preparedName = preparedNameOf(query.sql)));
  return { ...query, preparedName };
}

function preparedNameOf(text: string): string {
  return `hot_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
