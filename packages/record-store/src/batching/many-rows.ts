import { CompiledQuery, sql } from 'kysely';
import type { Tx } from '../store/database.js';
import { preparedQuery } from './prepared-query.js';

/** The types of a table's columns, as PostgreSQL writes them. They are asked for once in a process. */
const typesOf = new Map<string, ReadonlyMap<string, string>>();
const statements = new Map<string, CompiledQuery>();

async function columnTypes(tx: Tx, table: string): Promise<ReadonlyMap<string, string>> {
  const known = typesOf.get(table);
  if (known) return known;
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`.execute(tx.db);
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  typesOf.set(table, types);
  return types;
}

/** Rows of values as one list for each column, which is how one statement with as many parameters takes any number. */
export function byColumn(columns: number, rows: readonly (readonly unknown[])[]): unknown[][] {
  return Array.from({ length: columns }, (_, index) => rows.map((row) => row[index]));
}

const quoted = (name: string) => `"${name}"`;

function lists(types: ReadonlyMap<string, string>, columns: readonly string[], first = 1): string {
  return columns.map((column, index) => `$${index + first}::${types.get(column)}[]`).join(', ');
}

/** The statement of that key, which is made once. */
function statement(key: string, make: () => CompiledQuery): CompiledQuery {
  let known = statements.get(key);
  if (!known) statements.set(key, (known = make()));
  return known;
}

/**
 * Inserts any number of rows by one statement of PostgreSQL, in their order. Resolves to the `returning` columns of those
 * that were inserted.
 *
 * @param ending what else the statement says, such as `on conflict do nothing`
 */
export async function insertRows<R>(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  ending = '',
): Promise<readonly R[]> {
  const types = await columnTypes(tx, table);
  const query = statement(`insert ${table} ${columns} ${ending}`, () =>
    preparedQuery(
      CompiledQuery.raw(
        `insert into ${quoted(table)} (${columns.map(quoted).join(', ')}) select * from unnest(${lists(types, columns)}) ${ending}`,
      ),
    ),
  );
  const inserted = await tx.db.executeQuery<R>({ ...query, parameters: byColumn(columns.length, rows) } as never);
  return inserted.rows;
}

/**
 * Updates any number of rows by one statement of PostgreSQL, each by its `seq` and the revision that it had. Resolves to
 * the `seq` of those that were updated.
 *
 * @param rows values of the columns, and behind them `seq` and the revision before
 */
export async function updateRows(
  tx: Tx,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<ReadonlySet<number>> {
  const types = await columnTypes(tx, table);
  // Not prepared: the plan is for the table as it is now, not as small as it was when a connection came up.
  const query = statement(`update ${table} ${columns}`, () => {
    const sets = columns.map((column) => `${quoted(column)} = given.${quoted(column)}`).join(', ');
    const given = [...columns.map(quoted), '"given_seq"', '"given_revision"'].join(', ');
    const [seq, revision] = [columns.length + 1, columns.length + 2];
    return CompiledQuery.raw(
      `update ${quoted(table)} as kept set ${sets} from unnest(${lists(types, columns)}, $${seq}::bigint[], $${revision}::bigint[]) as given(${given}) where kept."seq" = "given_seq" and kept."revision" = "given_revision" returning kept."seq"`,
    );
  });
  const parameters = byColumn(columns.length + 2, rows);
  const updated = await tx.db.executeQuery<{ readonly seq: number }>({ ...query, parameters } as never);
  return new Set(updated.rows.map(({ seq }) => seq));
}
