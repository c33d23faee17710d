import { StoreError } from './store-error.js';

/** Why a database could not do what it was asked for, though nothing was wrong with the question. */
export type DatabaseTrouble = 'away' | 'busy' | 'late' | 'full' | 'read-only' | 'broken' | 'replaced';

/** What may be told to anybody: nothing of statements, files and addresses. */
const texts: Readonly<Record<DatabaseTrouble, string>> = {
  away: 'The database cannot be reached.',
  busy: 'The database is busy.',
  late: 'The database did not answer in time.',
  full: 'The database has no room left.',
  'read-only': 'The database takes no changes.',
  broken: 'The database failed.',
  replaced: 'The database file was removed or replaced while it was in use.',
};

/**
 * The database is unreachable, locked, full, read-only or too slow. The write is not acknowledged. If the connection broke
 * during a commit, the outcome of the transaction is unknown. `cause` is the error of the database itself.
 *
 * @example
 * ```ts
 * import { DatabaseUnavailable } from '@apistrata/record-store/errors';
 *
 * export const statusOf = (error: unknown) => (error instanceof DatabaseUnavailable ? 503 : 500);
 * ```
 */
export class DatabaseUnavailable extends StoreError<'DATABASE_UNAVAILABLE'> {
  readonly trouble: DatabaseTrouble;
  /** When it is worth trying again, in seconds. */
  readonly retryAfterSeconds = 5;

  constructor(trouble: DatabaseTrouble, cause?: unknown) {
    super('DATABASE_UNAVAILABLE', texts[trouble], { cause });
    this.trouble = trouble;
  }
}

/**
 * The whole table: codes of SQLite (their primary part), of PostgreSQL (five characters, or the two of a class), of
 * sockets and of files. What is not in it is a mistake of ours and stays what it is.
 */
const troubles: Readonly<Record<string, DatabaseTrouble>> = {
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_PROTOCOL: 'busy',
  SQLITE_FULL: 'full',
  SQLITE_READONLY: 'read-only',
  SQLITE_READONLY_DBMOVED: 'replaced',
  SQLITE_PERM: 'read-only',
  SQLITE_NOMEM: 'broken',
  SQLITE_IOERR: 'broken',
  SQLITE_CORRUPT: 'broken',
  SQLITE_NOTADB: 'broken',
  SQLITE_CANTOPEN: 'away',
  '08': 'away',
  '25006': 'read-only',
  '25P03': 'late',
  '25P04': 'late',
  '28': 'away',
  '3D': 'away',
  '53': 'busy',
  '53100': 'full',
  '53200': 'broken',
  '55P03': 'busy',
  '57': 'away',
  '57014': 'late',
  '58': 'broken',
  '72': 'broken',
  F0: 'broken',
  XX001: 'broken',
  XX002: 'broken',
  ECONNREFUSED: 'away',
  ECONNRESET: 'away',
  ECONNABORTED: 'away',
  EPIPE: 'away',
  ETIMEDOUT: 'away',
  ENOTFOUND: 'away',
  EAI_AGAIN: 'away',
  EHOSTUNREACH: 'away',
  EHOSTDOWN: 'away',
  ENETUNREACH: 'away',
  ENETDOWN: 'away',
  EADDRNOTAVAIL: 'away',
  EMFILE: 'away',
  ENFILE: 'away',
  EIO: 'broken',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** Errors of `pg` and of the SQLite libraries that carry no code. */
const codeless: readonly (readonly [RegExp, DatabaseTrouble])[] = [
  [/^timeout exceeded when trying to connect/, 'busy'],
  [/^Query read timeout/, 'late'],
  [
    /^(Connection terminated|Client (has encountered|was closed)|timeout expired|The server does not support SSL)/,
    'away',
  ],
  [/^(Cannot use a pool after|driver has already been destroyed|(The )?database (connection )?is not open)/i, 'away'],
];

/** What `node:sqlite` tells as a number. */
const sqliteNumbers: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  26: 'SQLITE_NOTADB',
  1032: 'SQLITE_READONLY_DBMOVED',
};

function troubleOf(error: unknown): DatabaseTrouble | undefined {
  const { code, errcode, message, errors } = (error ?? {}) as Record<string, unknown>;
  // A host name with several addresses, none of which answers.
  if (Array.isArray(errors) && errors.length > 0) return troubleOf(errors[0]);
  const name =
    typeof errcode === 'number' ? (sqliteNumbers[errcode] ?? sqliteNumbers[errcode & 0xff]) : String(code ?? '');
  if (!name) return codeless.find(([text]) => text.test(String(message)))?.[1];
  const primary = /^SQLITE_[A-Z]+/.exec(name)?.[0] ?? (/^[0-9A-Z]{5}$/.test(name) ? name.slice(0, 2) : '');
  const own = (key: string) => (Object.hasOwn(troubles, key) ? troubles[key] : undefined);
  return own(name) ?? own(primary);
}

/** The same error as {@link DatabaseUnavailable} where it tells trouble of the database; as it is otherwise. */
export function databaseError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const trouble = troubleOf(error);
  return trouble ? new DatabaseUnavailable(trouble, error) : error;
}

/** Whether an error says that the database is unavailable, and so nothing of what was to be done in it. */
export function isOutage(error: unknown): boolean {
  return databaseError(error) instanceof DatabaseUnavailable;
}
