import { type RawBuilder, sql } from 'kysely';
import { hotStatement } from '../batching/hot-statement.js';
import type { Session } from '../store/database.js';

/** A record as it is stored. */
export interface Row {
  readonly id: string;
  readonly seq: number;
  readonly revision: number;
  readonly data: string;
}

/** A row without its JSON if the caller already has this revision. */
type KeyedRow = Omit<Row, 'data'> & { readonly data: string | null };

/** Creates the queries of a table by key or `seq`. Queries by key return the JSON only of revisions that the caller does not have. */
export function rowsByKey(table: string) {
  const rows = ({ db }: Session) => db.selectFrom(table).select(['id', 'seq', 'revision', 'data']);
  const select = ({ db }: Session, isKnown: RawBuilder<unknown>) =>
    db
      .selectFrom(table)
      .select(['id', 'seq', 'revision', sql`case when revision ${isKnown} then null else data end`.as('data')]);
  return {
    /** Parameters: the known revision or null, and the key. */
    one: hotStatement<KeyedRow>((session) => select(session, sql`= ${0}`).where('id', '=', '')),
    /** Only for PostgreSQL. Parameters: the known revisions, and the keys. */
    several: hotStatement<KeyedRow>((session) => select(session, sql`= any(${''})`).where('id', '=', sql`any(${''})`), {
      isBatched: true,
    }),
    /** Parameter: the `seq`. */
    bySeq: hotStatement<Row>((session) => rows(session).where('seq', '=', 0)),
    /** Parameter: any number of `seq`, as an array or, on SQLite, as JSON, so that the statement is prepared once. */
    bySeqs: hotStatement<Row>((session) =>
      session.kind === 'postgres'
        ? rows(session).where('seq', '=', sql`any(${''})`)
        : rows(session).where('seq', 'in', sql`(select value from json_each(${''}))`),
    ),
  };
}
