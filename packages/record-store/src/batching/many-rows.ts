import { CompiledQuery, sql } from 'kysely';
import type { Tx } from '../store/database.js';
import { arrayParameter } from './binary-array.js';
import { preparedQuery } from './prepared-query.js';

/** Column types in PostgreSQL's notation, by table and column. Each table is queried once per process. */
const columnTypesByTable = new Map<string, ReadonlyMap<string, string>>();
const cachedStatements = new Map<string, CompiledQuery>();

async function loadColumnTypes(tx: Tx, table: string): Promise<ReadonlyMap<string, string>> {
  const cached = columnTypesByTable.get(table);
  if (cached) return cached;
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`.execute(tx.db);
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  columnTypesByTable.set(table, types);
  return types;
}

/**
 * Transposes rows into one list per column, so that one statement with a fixed number of parameters accepts any number
 * of rows.
 */
export function transposeRows(columns: number, rows: readonly (readonly unknown[])[]): unknown[][] {
  return Array.from({ length: columns }, (_, index) => rows.map((row) => row[index]));
}

/** Returns one array parameter per column, for the placeholders that `arrayExpressions` returns. */
function createColumnParameters(types: readonly string[], rows: readonly (readonly unknown[])[]): unknown[] {
  return transposeRows(types.length, rows).map((values, index) => arrayParameter(types[index] as string, values));
}

const quoteName = (name: string) => `"${name}"`;

/**
 * Returns the types of the given columns.
 *
 * @throws Error if the table does not have one of the columns
 */
function typesOfColumns(types: ReadonlyMap<string, string>, columns: readonly string[]): readonly string[] {
  return columns.map((column) => {
    const type = types.get(column);
    if (type === undefined) throw new Error(`the table has no column ${column}`);
    return type;
  });
}

function arrayExpressions(types: ReadonlyMap<string, string>, columns: readonly string[]): string {
  return typesOfColumns(types, columns)
    .map((type, index) => `$${index + 1}::${type}[]`)
    .join(', ');
}

/** Returns the cached statement for a key. Creates the statement on the first call. */
function cachedStatement(key: string, createStatement: () => CompiledQuery): CompiledQuery {
  let cached = cachedStatements.get(key);
  if (!cached) cachedStatements.set(key, (cached = createStatement()));
  return cached;
}

/**
 * Inserts any number of rows in the given order, with one PostgreSQL statement. Resolves to the `returning` columns of
 * the inserted rows.
 *
 * @param finalClauses the final clauses of the statement, such as `on conflict do nothing`
 */
export async function insertRows<R>(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  finalClauses = '',
): Promise<readonly R[]> {
  const types = await loadColumnTypes(tx, table);
  const query = cachedStatement(`insert ${table} ${columns} ${finalClauses}`, () =>
    preparedQuery(
      CompiledQuery.raw(
        `insert into ${quoteName(table)} (${columns.map(quoteName).join(', ')}) select * from unnest(${arrayExpressions(types, columns)}) ${finalClauses}`,
      ),
    ),
  );
  const parameters = createColumnParameters(typesOfColumns(types, columns), rows);
  const insertResult = await tx.db.executeQuery<R>({ ...query, parameters } as never);
  return insertResult.rows;
}

/**
 * Updates any number of rows with one PostgreSQL statement. Each row is identified by its `seq` and previous revision.
 * Resolves to the `seq` numbers of the updated rows. Throws if another transaction has locked a row, because waiting
 * would delay all callers of the shared transaction.
 *
 * @param rows for each row, the column values, then `seq` and the previous revision
 */
export async function updateRows(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<ReadonlySet<number>> {
  const types = await loadColumnTypes(tx, table);
  // Not prepared, because a cached plan would assume the table size from when the connection was opened.
  const query = cachedStatement(`update ${table} ${columns}`, () => {
    const assignments = columns.map((column) => `${quoteName(column)} = given.${quoteName(column)}`).join(', ');
    const inputColumns = [...columns.map(quoteName), '"given_seq"', '"given_revision"'].join(', ');
    const [seq, revision] = [columns.length + 1, columns.length + 2];
    return CompiledQuery.raw(
      `update ${quoteName(table)} as kept set ${assignments} from unnest(${arrayExpressions(types, columns)}, $${seq}::bigint[], $${revision}::bigint[]) as given(${inputColumns}) where kept."seq" = "given_seq" and kept."revision" = "given_revision" and kept."seq" in (select "seq" from ${quoteName(table)} where "seq" = any($${seq}::bigint[]) for update nowait) returning kept."seq"`,
    );
  });
  const parameters = createColumnParameters([...typesOfColumns(types, columns), 'bigint', 'bigint'], rows);
  const updateResult = await tx.db.executeQuery<{ readonly seq: number }>({ ...query, parameters } as never);
  return new Set(updateResult.rows.map(({ seq }) => seq));
}
