import type { TypeParsers } from './postgres-types.js';

/** The result of one statement, as `pg` returns it. */
export interface ClientResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: unknown[];
}

/** The part of a `pg` connection that statements use. */
interface PgConnection {
  describe(part: unknown): void;
}

interface FieldDescription {
  readonly name: string;
  readonly dataTypeID: number;
  readonly format?: string;
}

/** A query object for `pg`. The `pg` client calls these functions with the server's messages. */
export interface ClientQuery {
  name?: string;
  callback: (error: Error | null | undefined, result?: ClientResult) => void;
  prepare(connection: PgConnection): void;
  hasBeenParsed(connection: PgConnection): unknown;
  handleRowDescription(message: { readonly fields: readonly FieldDescription[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
}

export type QueryClass = new (
  text: string,
  values: readonly unknown[],
  done: (error: Error | null | undefined, result: ClientResult) => void,
) => ClientQuery;

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The prepared statements of one connection. */
interface StatementSession {
  /** The result columns by statement name; empty for statements that return no rows. */
  readonly columns: Map<string, readonly Column[]>;
  /** The connection with a no-op `describe`, so that the server does not describe results again. */
  readonly undescribed: PgConnection;
}

/** Matches command tags such as `SELECT 2` and `INSERT 0 1`. */
const COMMAND_TAG = /^([A-Za-z]+).*?(?: (\d+))?$/;

const statementSessions = new WeakMap<PgConnection, StatementSession>();

function sessionOf(connection: PgConnection): StatementSession {
  let session = statementSessions.get(connection);
  if (!session) {
    const connectionWithoutDescribe: PgConnection = Object.create(connection, { describe: { value: () => {} } });
    statementSessions.set(connection, (session = { columns: new Map(), undescribed: connectionWithoutDescribe }));
  }
  return session;
}

/**
 * Returns a class for prepared statements. The server describes a statement's results once per connection, whereas `pg`
 * itself requests and compiles the description with each execution.
 */
export function createNamedStatementClass(Query: QueryClass, types: TypeParsers): QueryClass {
  return class NamedStatement extends Query {
    readonly #rows: unknown[] = [];
    #session: StatementSession | undefined;
    #columns: readonly Column[] | undefined;
    #command = '';
    #count: number | null = null;
    #failure: Error | undefined;

    override prepare(connection: PgConnection): void {
      const session = sessionOf(connection);
      this.#session = session;
      if (this.hasBeenParsed(connection)) this.#columns = session.columns.get(this.name ?? '');
      super.prepare(this.#columns ? session.undescribed : connection);
    }

    override handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }): void {
      this.#describe(
        fields.map(({ name, dataTypeID, format = 'text' }) => ({
          name,
          parse: types.getTypeParser(dataTypeID, format),
        })),
      );
    }

    override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
      const row: Record<string, unknown> = {};
      try {
        for (const [index, { name, parse }] of (this.#columns ?? []).entries()) {
          const text = fields[index] ?? null;
          row[name] = text === null ? null : parse(text);
        }
        this.#rows.push(row);
      } catch (error) {
        this.#failure ??= error as Error;
      }
    }

    override handleCommandComplete({ text }: { readonly text: string }): void {
      if (!this.#columns) this.#describe([]);
      const [, command = '', count] = COMMAND_TAG.exec(text) ?? [];
      this.#command = command;
      this.#count = count === undefined ? null : Number(count);
    }

    override handleReadyForQuery(): void {
      if (this.#failure) this.callback(this.#failure);
      else this.callback(null, { command: this.#command, rowCount: this.#count, rows: this.#rows });
    }

    #describe(columns: readonly Column[]): void {
      this.#columns = columns;
      this.#session?.columns.set(this.name ?? '', columns);
    }
  };
}
