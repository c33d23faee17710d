import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';

/** A statement that comes again and again with other parameters. */
export interface PreparedQuery extends CompiledQuery {
  /** Under which a connection of PostgreSQL keeps it, parsed and planned. */
  readonly preparedName: string;
}

const names = new Map<string, string>();

/**
 * Has databases keep a statement. Only for texts of the program's own, of which there is an end. The name is made of the text:
 * behind a pooler a session may have been another process's, whose statements must not be taken for ours.
 */
export function preparedQuery(query: CompiledQuery): PreparedQuery {
  let preparedName = names.get(query.sql);
  if (preparedName === undefined) names.set(query.sql, (preparedName = nameOf(query.sql)));
  return { ...query, preparedName };
}

function nameOf(text: string): string {
  return `hot_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
