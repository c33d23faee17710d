import { type Statements, tableNamesOf } from './statements.js';

/**
 * Returns the SQL of all statements for MariaDB and MySQL. If a string contains several statements, each of them receives all
 * parameters. `RETURNING` is not used, because MySQL does not support it.
 */
export function mysqlStatements(prefix: string): Statements {
  const { limits, counters, reservations, receipts } = tableNamesOf(prefix);
  const columns = [0, 1, 2, 3].map((index) => `c${index} TEXT CHARACTER SET utf8mb4 PATH '$[${index}]'`);
  const itemList = `JSON_TABLE(?, '$[*]' COLUMNS (${columns.join(', ')})) AS item`;
  const numberColumn = (index: number) => `CAST(item.c${index} AS SIGNED)`;
  /**
   * The store's clock (a parameter) or, if it is null, the start of the transaction, so that all statements use the
   * same time.
   */
  const currentTime = 'coalesce(CAST(? AS SIGNED), @quota_now)';
  // Binary columns are compared as bytes, whereas collations of text columns ignore case or trailing spaces.
  const projectColumn = 'project varbinary(2048) NOT NULL';
  // Without STRAIGHT_JOIN, the optimizer may read and lock the whole table for a short list.
  const joinList = (table: string, key: 'kind' | 'id') =>
    `${itemList} STRAIGHT_JOIN ${table} AS owned FORCE INDEX (PRIMARY) ON owned.project = item.c0 AND owned.${key} = item.c1`;
  const lock = `INSERT INTO ${counters} (project, kind, used, reserved) SELECT item.c0, item.c1, 0, 0 FROM ${itemList}
      ON DUPLICATE KEY UPDATE used = ${counters}.used`;
  const deleteReservations = (
    state: string,
  ) => `SELECT owned.id FROM ${joinList(reservations, 'id')} WHERE ${state} FOR UPDATE;
      DELETE owned FROM ${joinList(reservations, 'id')} WHERE ${state}`;
  return {
    schema: [
      `CREATE TABLE IF NOT EXISTS ${limits} (position bigint AUTO_INCREMENT PRIMARY KEY, ${projectColumn} UNIQUE,
        own_limits longtext CHARACTER SET utf8mb4 NOT NULL) ENGINE = InnoDB`,
      `CREATE TABLE IF NOT EXISTS ${counters} (${projectColumn}, kind varbinary(64) NOT NULL, used bigint NOT NULL,
        reserved bigint NOT NULL, PRIMARY KEY (project, kind)) ENGINE = InnoDB`,
      `CREATE TABLE IF NOT EXISTS ${reservations} (${projectColumn}, id varbinary(255) NOT NULL,
        amounts longtext CHARACTER SET utf8mb4 NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (project, id),
        KEY by_expiry (project, expires_at)) ENGINE = InnoDB`,
      `CREATE TABLE IF NOT EXISTS ${receipts} (lane char(36) CHARACTER SET ascii NOT NULL, number bigint NOT NULL,
        undone boolean NOT NULL DEFAULT false, at bigint NOT NULL, PRIMARY KEY (lane, number)) ENGINE = InnoDB`,
    ],
    lock,
    lockAndRead: `${lock};
      SELECT owned.project, owned.kind, owned.used, owned.reserved,
        (SELECT own_limits FROM ${limits} AS own WHERE own.project = owned.project) AS own_limits
      FROM ${joinList(counters, 'kind')} FOR UPDATE`,
    add: `UPDATE ${joinList(counters, 'kind')}
      SET owned.used = owned.used + ${numberColumn(2)}, owned.reserved = owned.reserved + ${numberColumn(3)}`,
    insertReservations: `INSERT INTO ${reservations} (expires_at, project, id, amounts)
      SELECT ${currentTime} + ${numberColumn(3)}, item.c0, item.c1, item.c2 FROM ${itemList}`,
    end: deleteReservations(`owned.expires_at > ${currentTime}`),
    endExpired: deleteReservations(`owned.expires_at <= ${currentTime}`),
    renew: `UPDATE ${reservations} SET expires_at = ${currentTime} + CAST(? AS SIGNED)
      WHERE project = ? AND id = ? AND expires_at > ${currentTime}`,
    expiredOf: `SELECT owned.id, owned.project, owned.amounts FROM ${itemList}
      STRAIGHT_JOIN ${reservations} AS owned FORCE INDEX (by_expiry) ON owned.project = item.c0
      WHERE owned.expires_at <= ${currentTime} LIMIT 1000`,
    expired: `SELECT id, project, amounts FROM ${reservations} WHERE expires_at <= ${currentTime} ORDER BY expires_at LIMIT 1000`,
    counts: `SELECT kind, used, reserved, NULL AS amounts FROM ${counters} WHERE project = ?
      UNION ALL SELECT NULL, 0, 0, amounts FROM ${reservations} WHERE project = ? AND expires_at <= ${currentTime}`,
    receipt: `INSERT INTO ${receipts} (lane, number, at) VALUES (?, ?, unix_timestamp())`,
    undo: `UPDATE ${receipts} SET undone = true WHERE lane = ? AND number = ? AND NOT undone`,
    forbid: `INSERT INTO ${receipts} (lane, number, undone, at) VALUES (?, ?, true, unix_timestamp())
      ON DUPLICATE KEY UPDATE undone = undone`,
    clear: `DELETE FROM ${receipts} WHERE lane = ? AND number <= ?`,
    clearOld: `DELETE FROM ${receipts} WHERE at < unix_timestamp() - 86400`,
    release: `UPDATE ${joinList(counters, 'kind')} SET owned.used = greatest(owned.used - ${numberColumn(2)}, 0)`,
    recount: `INSERT INTO ${counters} (project, kind, used, reserved) VALUES (?, ?, ?, 0)
      ON DUPLICATE KEY UPDATE used = VALUES(used)`,
    limitsOf: `SELECT own_limits FROM ${limits} WHERE project = ?`,
    setLimits: `INSERT INTO ${limits} (project, own_limits) VALUES (?, ?)
      ON DUPLICATE KEY UPDATE own_limits = VALUES(own_limits)`,
    removeLimits: `DELETE FROM ${limits} WHERE project = ?`,
    countLimits: `SELECT count(*) AS total FROM ${limits}`,
    listLimits: `SELECT project, own_limits FROM ${limits} ORDER BY position LIMIT ? OFFSET ?`,
  };
}
