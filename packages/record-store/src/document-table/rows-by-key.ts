import { type RawBuilder, sql } from 'kysely';
import { hotStatement } from '../batching/hot-statement.js';
import type { Session } from '../store/database.js';

/** A table row that stores one record. */
export interface Row {
  readonly id: string;
  readonly seq: number;
  readonly revision: number;
  readonly data: string;
}

/** A row whose `data` is null if the caller already has this revision. */
type KeyedRow = Omit<Row, 'data'> & { readonly data: string | null };

/** Creates a table's queries by key and by `seq`. Queries by key omit the JSON of already known revisions. */
export function rowsByKey(table: string) {
  const selectRows = ({ db }: Session) => db.selectFrom(table).select(['id', 'seq', 'revision', 'data']);
  const selectOmittingKnownJson = ({ db }: Session, knownCondition: RawBuilder<unknown>) =>
    db
      .selectFrom(table)
      .select(['id', 'seq', 'revision', sql`case when revision ${knownCondition} then null else data end`.as('data')]);
  return {
    /** Selects a row by key. Parameters: the known revision or null, and the key. */
    one: hotStatement<KeyedRow>((session) => selectOmittingKnownJson(session, sql`= ${0}`).where('id', '=', '')),
    /** Selects rows by key, only on PostgreSQL. Parameters: the known revisions, and the keys. */
    several: hotStatement<KeyedRow>(
      (session) => selectOmittingKnownJson(session, sql`= any(${''})`).where('id', '=', sql`any(${''})`),
      {
        isBatched: true,
      },
    ),
    /** Selects a row. Parameter: its `seq`. */
    bySeq: hotStatement<Row>((session) => selectRows(session).where('seq', '=', 0)),
    /**
     * Selects rows. Parameter: their `seq` numbers as an array or, on SQLite, as a JSON array, so that the statement is
     * prepared once.
     */
    bySeqs: hotStatement<Row>((session) =>
      session.kind === 'postgres'
        ? selectRows(session).where('seq', '=', sql`any(${''})`)
        : selectRows(session).where('seq', 'in', sql`(select value from json_each(${''}))`),
    ),
  };
}
