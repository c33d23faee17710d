import { type RawBuilder, sql } from 'kysely';
import { hotStatement } from '../batching/hot-statement.js';
import type { Session } from '../store/database.js';

/** A row without its JSON if the caller already has this revision. */
export interface KeyedRow {
  readonly id: string;
  readonly seq: number;
  readonly revision: number;
  readonly data: string | null;
}

/** Creates the queries of a table by key. They return the JSON only of revisions that the caller does not have. */
export function rowsByKey(table: string) {
  const select = ({ db }: Session, isKnown: RawBuilder<unknown>) =>
    db
      .selectFrom(table)
      .select(['id', 'seq', 'revision', sql`case when revision ${isKnown} then null else data end`.as('data')]);
  return {
    /** Parameters: the known revision or null, the key. */
    one: hotStatement<KeyedRow>((session) => select(session, sql`= ${0}`).where('id', '=', '')),
    /** PostgreSQL. Parameters: the known revisions, the keys. */
    several: hotStatement<KeyedRow>((session) => select(session, sql`= any(${''})`).where('id', '=', sql`any(${''})`)),
  };
}
