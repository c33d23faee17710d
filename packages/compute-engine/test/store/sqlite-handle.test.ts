import { afterEach, describe, expect, it, vi } from 'vitest';
import { openSqlite } from '../../src/store/sqlite-handle.js';

/** As Node has it: whether a transaction is open is told by each database, not by the prototype. */
function builtin(told: object) {
  const closed: string[] = [];
  class StatementSync {
    columns = () => [];
  }
  (StatementSync.prototype as { columns?: unknown }).columns = () => [];
  class DatabaseSync {
    constructor(readonly path: string) {
      Object.assign(this, told);
    }
    exec = () => undefined;
    close = () => closed.push(this.path);
  }
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue({ StatementSync, DatabaseSync } as never);
  return closed;
}

afterEach(() => vi.restoreAllMocks());

describe('a SQLite database', () => {
  it("is opened with Node's own library where that says whether a transaction is open", () => {
    const closed = builtin({ isTransaction: false });
    const db = openSqlite('/a/file');
    expect(db.inTransaction()).toBe(false);
    db.close();
    expect(closed).toContain('/a/file');
  });

  it.each([
    ['does not say so', () => builtin({})],
    ['is not there', () => vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never) && []],
  ])('is opened with better-sqlite3 where it %s', (_, prepare) => {
    const closed = prepare();
    const db = openSqlite(':memory:');
    db.exec('BEGIN');
    expect(db.inTransaction()).toBe(true);
    db.exec('ROLLBACK');
    expect(db.returnsRows(db.prepare('SELECT 1'))).toBe(true);
    db.close();
    expect(closed.length).toBeLessThan(2);
  });
});
