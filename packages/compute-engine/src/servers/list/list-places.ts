import { isOneOf, type RowQuery, type Rows } from '@apistrata/record-store';
import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Selects servers by a query for their `seq`, on PostgreSQL. An index that contains the compared columns suffices for
 * that query, while a query for whole rows would read all compared rows. The rows are then read by `seq`; `offset`
 * prevents the planner from merging both queries.
 */
export function serversAt(db: Kysely<Rows>, seqs: RawBuilder<unknown>): RowQuery {
  const rows = sql`(select * from servers where ${isOneOf({ kind: 'postgres' }, 'seq', seqs)} offset 0)`;
  return db.selectFrom(rows.as('servers')).select(['id', 'seq', 'revision']) as unknown as RowQuery;
}
