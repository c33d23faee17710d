import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Session } from '../store/database.js';

/**
 * Selects rows whose column is one of the results of a subquery. The subquery runs first, and its results are looked
 * up: PostgreSQL would otherwise scan all rows if it cannot estimate how few results there are.
 */
export function isOneOf(
  { kind }: Pick<Session, 'kind'>,
  column: string,
  query: Expression<unknown>,
): RawBuilder<boolean> {
  const name = sql.ref(column);
  return kind === 'postgres' ? sql`${name} = any(array(${query}))` : sql`${name} in (${query})`;
}
