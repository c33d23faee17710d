import { isInSubquery, type RowQuery, type Rows } from '@apistrata/record-store';
import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Selects servers on PostgreSQL with a subquery that returns their `seq`. The subquery only reads an index that
 * contains the compared columns, whereas a query for complete rows would read every compared row from the table. The
 * matching rows are then read by `seq`. The `offset` clause keeps the planner from merging the two queries.
 */
export function selectBySeq(db: Kysely<Rows>, seqs: RawBuilder<unknown>): RowQuery {
  const rows = sql`(select * from servers where ${isInSubquery({ kind: 'postgres' }, 'seq', seqs)} offset 0)`;
  return db.selectFrom(rows.as('servers')).select(['id', 'seq', 'revision']) as unknown as RowQuery;
}
