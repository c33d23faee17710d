import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Session } from '../store/database.js';

/**
 * Rows whose column is one of what a question finds. The question is asked first, and its answers are looked up: PostgreSQL
 * would otherwise go through all rows where it cannot guess how few they are.
 */
export function isOneOf(
  { kind }: Pick<Session, 'kind'>,
  column: string,
  question: Expression<unknown>,
): RawBuilder<boolean> {
  const name = sql.ref(column);
  return kind === 'postgres' ? sql`${name} = any(array(${question}))` : sql`${name} in (${question})`;
}
