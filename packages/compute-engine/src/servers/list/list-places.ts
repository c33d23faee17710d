import { isOneOf, type RowQuery, type Rows } from '@apistrata/record-store';
import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Servers by a question for their `seq`, on PostgreSQL: it can be answered by an index that holds what is compared, where
 * one that asks for whole rows reads all that are compared. Then they are read by their places; `offset` keeps the planner
 * from looking for them in any other way.
 */
export function serversAt(db: Kysely<Rows>, places: RawBuilder<unknown>): RowQuery {
  const rows = sql`(select * from servers where ${isOneOf({ kind: 'postgres' }, 'seq', places)} offset 0)`;
  return db.selectFrom(rows.as('servers')).select(['id', 'seq', 'revision']) as unknown as RowQuery;
}
