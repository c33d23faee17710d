import { isOneOf, type RowQuery, type Rows } from '@apistrata/record-store';
import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Selects servers by a query for their `seq`, on PostgreSQL: an index that contains the compared columns can answer that
 * query, while a query for whole rows would read all compared rows. The rows are then read by `seq`; `offset` keeps the
 * planner from merging both queries.
 */
export function serversAt(db: Kysely<Rows>, places: RawBuilder<unknown>): RowQuery {
  const rows = sql`(select * from servers where ${isOneOf({ kind: 'postgres' }, 'seq', places)} offset 0)`;
  return db.selectFrom(rows.as('servers')).select(['id', 'seq', 'revision']) as unknown as RowQuery;
}
