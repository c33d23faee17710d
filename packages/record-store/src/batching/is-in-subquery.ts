import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Session } from '../store/database.js';

/**
 * Returns a condition that is true if a column has one of the values that a subquery returns. On PostgreSQL, the
 * subquery runs first and its values are then looked up, because PostgreSQL otherwise scans all rows if it cannot
 * estimate how few values there are.
 */
export function isInSubquery(
  { kind }: Pick<Session, 'kind'>,
  column: string,
  query: Expression<unknown>,
): RawBuilder<boolean> {
  const name = sql.ref(column);
  return kind === 'postgres' ? sql`${name} = any(array(${query}))` : sql`${name} in (${query})`;
}
