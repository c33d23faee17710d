import type { Limit } from '../limits.js';
import type { OwnLimits } from '../store.js';
import type { SqlValue } from './sql-database.js';

/** A change to the counter of a project and kind. */
export interface CounterDelta {
  readonly project: string;
  readonly kind: string;
  used: number;
  reserved: number;
}

/** Returns the table names of a store. */
export function tableNamesOf(prefix: string) {
  return {
    limits: `${prefix}limits`,
    counters: `${prefix}counters`,
    reservations: `${prefix}holds`,
    receipts: `${prefix}receipts`,
  } as const;
}

/**
 * Returns a PostgreSQL expression for the current time: the parameter, or the database server's clock if the parameter
 * is null. Unlike a volatile function, a subquery is evaluated once and can be used in an index search.
 */
export function currentTimeExpression(parameter: string): string {
  return `(SELECT coalesce(${parameter}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))`;
}

/**
 * Returns the SQL text of all statements, for PostgreSQL or SQLite. Lists are passed as one JSON parameter, so that the
 * SQL text does not depend on their length.
 */
export function statementsFor(dialect: 'postgres' | 'sqlite', prefix: string) {
  const isPostgres = dialect === 'postgres';
  const { limits, counters, reservations, receipts } = tableNamesOf(prefix);
  const itemList = isPostgres ? 'jsonb_array_elements(?::jsonb) AS item(value)' : 'json_each(?) AS item';
  const itemColumn = (index: number, type: 'text' | 'bigint') =>
    type === 'text' ? `(item.value->>${index})` : `CAST(item.value->>${index} AS bigint)`;
  const currentTime = isPostgres ? currentTimeExpression('?') : '?';
  const integerType = isPostgres ? 'bigint' : 'integer';
  // Without this hint, SQLite with statistics may prefer the primary key and read every reservation of the project.
  const expiryIndex = isPostgres ? '' : `INDEXED BY ${reservations}_by_expiry`;

  const lock = `INSERT INTO ${counters} (project, kind, used, reserved)
      SELECT ${itemColumn(0, 'text')}, ${itemColumn(1, 'text')}, 0, 0 FROM ${itemList} WHERE true
      ON CONFLICT (project, kind) DO UPDATE SET used = ${counters}.used`;
  const receiptsTable = `CREATE TABLE IF NOT EXISTS ${receipts} (
        lane uuid NOT NULL, number bigint NOT NULL, undone boolean NOT NULL DEFAULT false,
        at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (lane, number))`;
  return {
    schema: [
      `CREATE TABLE IF NOT EXISTS ${limits} (
        position ${isPostgres ? 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY' : 'integer PRIMARY KEY AUTOINCREMENT'},
        project text NOT NULL UNIQUE, own_limits text NOT NULL)`,
      `CREATE TABLE IF NOT EXISTS ${counters} (
        project text NOT NULL, kind text NOT NULL, used ${integerType} NOT NULL, reserved ${integerType} NOT NULL,
        PRIMARY KEY (project, kind))`,
      `CREATE TABLE IF NOT EXISTS ${reservations} (
        project text NOT NULL, id text NOT NULL, amounts text NOT NULL, expires_at ${integerType} NOT NULL,
        PRIMARY KEY (project, id))${isPostgres ? '' : ' WITHOUT ROWID'}`,
      // A rejected request uses this index to find the expired reservations of its project without reading the others.
      `CREATE INDEX IF NOT EXISTS ${reservations}_by_expiry ON ${reservations} (project, expires_at)`,
      // SQLite needs no receipts, because the result of a database in the same process cannot be lost.
      ...(isPostgres ? [receiptsTable] : []),
    ],
    /** Creates missing counters and locks all given counters. Parameter: [[project, kind]], sorted. */
    lock,
    /** Like `lock`, but also returns the counters and the projects' own limits. */
    lockAndRead: `${lock} RETURNING project, kind, used, reserved,
        (SELECT own_limits FROM ${limits} AS own WHERE own.project = ${counters}.project) AS own_limits`,
    /** Adds to the values of counters. Parameter: [[project, kind, used, reserved]]. */
    add: `UPDATE ${counters} SET used = used + ${itemColumn(2, 'bigint')}, reserved = reserved + ${itemColumn(3, 'bigint')}
      FROM ${itemList} WHERE project = ${itemColumn(0, 'text')} AND kind = ${itemColumn(1, 'text')}`,
    /** Inserts reservations. Parameters: now, [[project, id, amounts, ttlMs]]. */
    insertReservations: `INSERT INTO ${reservations} (project, id, amounts, expires_at)
      SELECT ${itemColumn(0, 'text')}, ${itemColumn(1, 'text')}, ${itemColumn(2, 'text')}, ${currentTime} + ${itemColumn(3, 'bigint')} FROM ${itemList}`,
    /** Deletes reservations that have not expired, and returns their ids. Parameters: [[project, id]], now. */
    end: `DELETE FROM ${reservations} WHERE (project, id) IN (SELECT ${itemColumn(0, 'text')}, ${itemColumn(1, 'text')} FROM ${itemList})
      AND expires_at > ${currentTime} RETURNING id`,
    /** Deletes expired reservations, and returns their ids. Parameters: [[project, id]], now. */
    endExpired: `DELETE FROM ${reservations} WHERE (project, id) IN (SELECT ${itemColumn(0, 'text')}, ${itemColumn(1, 'text')} FROM ${itemList})
      AND expires_at <= ${currentTime} RETURNING id`,
    /** Renews a reservation that has not expired. Parameters: now, ttlMs, project, id, now. */
    renew: `UPDATE ${reservations} SET expires_at = ${currentTime} + CAST(? AS bigint)
      WHERE project = ? AND id = ? AND expires_at > ${currentTime} RETURNING id`,
    /**
     * Returns expired reservations of some projects; on PostgreSQL, at most a thousand per project. Parameters:
     * [[project]], now.
     */
    expiredOf: isPostgres
      ? `SELECT gone.id, gone.project, gone.amounts FROM ${itemList} CROSS JOIN LATERAL (
          SELECT id, project, amounts FROM ${reservations}
          WHERE project = ${itemColumn(0, 'text')} AND expires_at <= ${currentTime} ORDER BY expires_at LIMIT 1000) AS gone`
      : // CROSS JOIN makes SQLite keep this join order, regardless of its size estimates.
        `SELECT reservation.id, reservation.project, reservation.amounts FROM ${itemList} CROSS JOIN ${reservations} AS reservation ${expiryIndex}
          WHERE reservation.project = ${itemColumn(0, 'text')} AND reservation.expires_at <= ${currentTime} LIMIT 1000`,
    /** Returns at most a thousand expired reservations of all projects. Parameter: now. */
    expired: `SELECT id, project, amounts FROM ${reservations} WHERE expires_at <= ${currentTime} ORDER BY expires_at LIMIT 1000`,
    /** Returns the counters and the expired reservations of a project in one snapshot. Parameters: project, project, now. */
    counts: `SELECT kind, used, reserved, NULL AS amounts FROM ${counters} WHERE project = ?
      UNION ALL SELECT NULL, 0, 0, amounts FROM ${reservations} ${expiryIndex} WHERE project = ? AND expires_at <= ${currentTime}`,
    // SQLite does not use the following statements, which manage receipts.
    /**
     * Records a consume operation. Fails if the number exists, so that an undone operation cannot be executed later.
     * Parameters: lane, number.
     */
    receipt: `INSERT INTO ${receipts} (lane, number) VALUES (?, ?)`,
    /**
     * Marks an executed operation as undone; returns a row only if the operation had been executed. Parameters: lane,
     * number.
     */
    undo: `UPDATE ${receipts} SET undone = true WHERE lane = ? AND number = ? AND NOT undone RETURNING number`,
    /** Prevents the later execution of an operation that was not executed. Parameters: lane, number. */
    forbid: `INSERT INTO ${receipts} (lane, number, undone) VALUES (?, ?, true) ON CONFLICT (lane, number) DO NOTHING`,
    /** Deletes the receipts in a lane up to a number. Parameters: lane, number. */
    clear: `DELETE FROM ${receipts} WHERE lane = ? AND number <= ?`,
    /** Deletes obsolete receipts of processes that have ended. */
    clearOld: `DELETE FROM ${receipts} WHERE at < clock_timestamp() - interval '1 day'`,
    /** Subtracts amounts from the used amounts. Parameter: [[project, kind, amount]]. */
    release: `UPDATE ${counters} SET used = CASE WHEN used > ${itemColumn(2, 'bigint')} THEN used - ${itemColumn(2, 'bigint')} ELSE 0 END
      FROM ${itemList} WHERE project = ${itemColumn(0, 'text')} AND kind = ${itemColumn(1, 'text')}`,
    /** Sets the used amount of a kind. Parameters: project, kind, used. */
    recount: `INSERT INTO ${counters} (project, kind, used, reserved) VALUES (?, ?, ?, 0)
      ON CONFLICT (project, kind) DO UPDATE SET used = excluded.used`,
    /** Returns a project's own limits. Parameter: project. */
    limitsOf: `SELECT own_limits FROM ${limits} WHERE project = ?`,
    /** Replaces a project's own limits. Parameters: project, limits. */
    setLimits: `INSERT INTO ${limits} (project, own_limits) VALUES (?, ?)
      ON CONFLICT (project) DO UPDATE SET own_limits = excluded.own_limits`,
    /** Removes a project's own limits. Parameter: project. */
    removeLimits: `DELETE FROM ${limits} WHERE project = ? RETURNING project`,
    countLimits: `SELECT count(*) AS total FROM ${limits}`,
    /** Returns a page of projects' own limits, oldest entry first. Parameters: page size, offset. */
    listLimits: `SELECT project, own_limits FROM ${limits} ORDER BY position LIMIT ? OFFSET ?`,
  };
}

export type Statements = ReturnType<typeof statementsFor>;

/** Formats a list of tuples as one JSON statement parameter. */
export function formatTuples(rows: readonly (readonly SqlValue[])[]): string {
  return JSON.stringify(rows);
}

/** Formats a project's own limits as JSON with decimal strings, so that they are not rounded. */
export function writeLimits(limits: OwnLimits): string {
  return JSON.stringify(Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, String(limit)])));
}

/** Parses limits that {@link writeLimits} has formatted. */
export function readLimits(text: unknown): OwnLimits {
  const decimalStringsByKind = JSON.parse(String(text)) as Record<string, string>;
  return Object.fromEntries(Object.entries(decimalStringsByKind).map(([kind, decimal]) => [kind, limitOf(decimal)]));
}

function limitOf(decimal: string): Limit {
  const number = Number(decimal);
  return Number.isSafeInteger(number) ? number : BigInt(decimal);
}
