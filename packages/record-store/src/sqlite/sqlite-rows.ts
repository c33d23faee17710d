import type { SqliteStatement } from './sqlite-handle.js';

type Row = Record<string, unknown>;

/**
 * Reads the rows of a statement. The objects of `node:sqlite` have no prototype and are hash tables, which take twice as
 * long to create and to read as these objects, whose properties are in the order of the columns.
 */
export class SqliteRowReader {
  readonly #statement: SqliteStatement;
  #names: readonly string[];

  private constructor(statement: SqliteStatement, names: readonly string[]) {
    this.#statement = statement;
    this.#names = names;
    statement.setReturnArrays(true);
  }

  /** Returns the reader of a statement; undefined if the statement returns no rows. */
  static of(statement: SqliteStatement): SqliteRowReader | undefined {
    const names = namesOf(statement);
    return names.length > 0 ? new SqliteRowReader(statement, names) : undefined;
  }

  /** Executes the statement and returns its rows. */
  all(parameters: readonly unknown[]): Row[] {
    const found = this.#statement.all(...parameters) as unknown[][];
    // A change of the schema adds columns to `select *`.
    if (found[0] && found[0].length !== this.#names.length) this.#names = namesOf(this.#statement);
    const names = this.#names;
    return found.map((values) => {
      const row: Row = {};
      for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
      return row;
    });
  }
}

function namesOf(statement: SqliteStatement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}
