import { type Kysely, PostgresAdapter } from 'kysely';
import type { Rows } from '../store/database.js';

type ColumnType = 'text' | 'integer' | 'bigint' | 'real' | 'counter';

/**
 * The additional columns and the indexes of a document table. `bigint` is for times in milliseconds; a `counter` starts
 * at 0.
 */
export interface TableShape {
  readonly columns?: Readonly<Record<string, ColumnType>>;
  /** Each index is a list of columns. The prefix `unique:` on a column makes the index unique. */
  readonly indexes?: readonly (readonly string[])[];
}

/** Creates a document table with `seq`, `id`, `revision`, `data`, and the columns by which lists filter and sort. */
export async function createDocumentTable(db: Kysely<Rows>, name: string, shape: TableShape = {}): Promise<void> {
  const isPostgresDatabase = isPostgres(db);
  let table = db.schema
    .createTable(name)
    .addColumn('seq', isPostgresDatabase ? 'bigserial' : 'integer', (c) =>
      isPostgresDatabase ? c.primaryKey() : c.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('revision', 'bigint', (c) => c.notNull())
    .addColumn('data', 'text', (c) => c.notNull());
  for (const [column, type] of Object.entries(shape.columns ?? {})) {
    table =
      type === 'counter'
        ? table.addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        : table.addColumn(column, type);
  }
  await table.execute();
  for (const [number, spec] of (shape.indexes ?? []).entries()) {
    const isUnique = spec.some((column) => column.startsWith('unique:'));
    const columns = spec.map((column) => column.replace('unique:', ''));
    const index = db.schema.createIndex(`${name}_${number}`).on(name).columns(columns);
    await (isUnique ? index.unique() : index).execute();
  }
}

/** Returns whether the database is PostgreSQL, for statements that differ between databases. */
export function isPostgres(db: Kysely<Rows>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
