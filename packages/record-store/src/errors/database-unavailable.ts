import { StoreError } from './store-error.js';

/** The reason why a database could not execute a valid statement. */
export type DatabaseFailure = 'unreachable' | 'busy' | 'timeout' | 'full' | 'read-only' | 'failed' | 'replaced';

/** Error messages that any caller may see, because they contain no statements, file names or addresses. */
const failureMessages: Readonly<Record<DatabaseFailure, string>> = {
  unreachable: 'The database cannot be reached.',
  busy: 'The database is busy.',
  timeout: 'The database did not respond in time.',
  full: 'The database disk is full.',
  'read-only': 'The database is read-only.',
  failed: 'The database failed.',
  replaced: 'The database file was removed or replaced while it was in use.',
};

/**
 * Thrown if the database is unreachable, locked, full, read-only or too slow. A failed write is not acknowledged. If
 * the connection broke during a commit, it is unknown whether the transaction was committed. `cause` is the database's
 * own error.
 *
 * @example
 * ```ts
 * import { DatabaseUnavailable } from '@apistrata/record-store/errors';
 *
 * export const statusOf = (error: unknown) => (error instanceof DatabaseUnavailable ? 503 : 500);
 * ```
 */
export class DatabaseUnavailable extends StoreError<'DATABASE_UNAVAILABLE'> {
  readonly failure: DatabaseFailure;
  /** The number of seconds after which a client should retry. */
  readonly retryAfterSeconds = 5;

  constructor(failure: DatabaseFailure, cause?: unknown) {
    super('DATABASE_UNAVAILABLE', failureMessages[failure], { cause });
    this.failure = failure;
  }
}

/**
 * Failures by error code: SQLite codes (usually the primary code), PostgreSQL codes (five characters, or the two
 * characters of a class), and system codes for sockets and files. Errors with other codes are bugs and are not
 * converted.
 */
const failuresByCode: Readonly<Record<string, DatabaseFailure>> = {
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_PROTOCOL: 'busy',
  SQLITE_FULL: 'full',
  SQLITE_READONLY: 'read-only',
  SQLITE_READONLY_DBMOVED: 'replaced',
  SQLITE_PERM: 'read-only',
  SQLITE_NOMEM: 'failed',
  SQLITE_IOERR: 'failed',
  SQLITE_CORRUPT: 'failed',
  SQLITE_NOTADB: 'failed',
  SQLITE_CANTOPEN: 'unreachable',
  '08': 'unreachable',
  '25006': 'read-only',
  '25P03': 'timeout',
  '25P04': 'timeout',
  '28': 'unreachable',
  '3D': 'unreachable',
  '53': 'busy',
  '53100': 'full',
  '53200': 'failed',
  '55P03': 'busy',
  '57': 'unreachable',
  '57014': 'timeout',
  '58': 'failed',
  '72': 'failed',
  F0: 'failed',
  XX001: 'failed',
  XX002: 'failed',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  ECONNABORTED: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EMFILE: 'unreachable',
  ENFILE: 'unreachable',
  EIO: 'failed',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** Failures by message, for those errors of `pg` and the SQLite libraries that have no code. */
const failuresByMessage: readonly (readonly [RegExp, DatabaseFailure])[] = [
  [/^timeout exceeded when trying to connect/, 'busy'],
  [/^Query read timeout/, 'timeout'],
  [
    /^(Connection terminated|Client (has encountered|was closed)|timeout expired|The server does not support SSL)/,
    'unreachable',
  ],
  [/^(Cannot use a pool after|(The )?database (connection )?is not open)/i, 'unreachable'],
];

/** SQLite error names by the error numbers of `node:sqlite`. */
const sqliteCodesByNumber: Readonly<Record<number, string>> = {
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

function failureOf(error: unknown): DatabaseFailure | undefined {
  const { code, errcode, message, errors } = (error ?? {}) as Record<string, unknown>;
  // An aggregate error: the host name has several addresses, and none of them responds.
  if (Array.isArray(errors) && errors.length > 0) return failureOf(errors[0]);
  const name =
    typeof errcode === 'number'
      ? (sqliteCodesByNumber[errcode] ?? sqliteCodesByNumber[errcode & 0xff])
      : String(code ?? '');
  if (!name) return failuresByMessage.find(([text]) => text.test(String(message)))?.[1];
  const primaryCode = /^SQLITE_[A-Z]+/.exec(name)?.[0] ?? (/^[0-9A-Z]{5}$/.test(name) ? name.slice(0, 2) : '');
  const failureFor = (key: string) => (Object.hasOwn(failuresByCode, key) ? failuresByCode[key] : undefined);
  return failureFor(name) ?? failureFor(primaryCode);
}

/**
 * Converts an error to {@link DatabaseUnavailable} if it describes an outage of the database; returns other errors
 * unchanged.
 */
export function databaseError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const failure = failureOf(error);
  return failure ? new DatabaseUnavailable(failure, error) : error;
}

/** Returns whether an error means that the database is unavailable. */
export function isOutage(error: unknown): boolean {
  return databaseError(error) instanceof DatabaseUnavailable;
}
