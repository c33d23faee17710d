import type { SqliteStatement } from './sqlite-handle.js';

type Row = Record<string, unknown>;

/**
 * Reads a statement's rows. The row objects of `node:sqlite` have no prototype and are hash tables. They take twice as
 * long to create and to read as the objects of this class, whose properties are in the order of the columns.
 */
export class SqliteRowReader {
  readonly #statement: SqliteStatement;
  #names: readonly string[];

  private constructor(statement: SqliteStatement, names: readonly string[]) {
    this.#statement = statement;
    this.#names = names;
    statement.setReturnArrays(true);
  }

  /** Returns a reader for a statement; undefined if the statement returns no rows. */
  static of(statement: SqliteStatement): SqliteRowReader | undefined {
    const names = namesOf(statement);
    return names.length > 0 ? new SqliteRowReader(statement, names) : undefined;
  }

  /** Executes the statement and returns its rows. */
  all(parameters: readonly unknown[]): Row[] {
    const valueRows = this.#statement.all(...parameters) as unknown[][];
    // `select *` returns more columns after a schema change.
    if (valueRows[0] && valueRows[0].length !== this.#names.length) this.#names = namesOf(this.#statement);
    const names = this.#names;
    return valueRows.map((values) => {
      const row: Row = {};
      for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
      return row;
    });
  }
}

function namesOf(statement: SqliteStatement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}
