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

  it('gives rows as objects, by the names that columns have now', () => {
    const db = openSqlite(':memory:');
    db.exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, NULL)");
    const [all, renamed, none] = ['SELECT * FROM t', 'SELECT a + 1 AS c FROM t', 'SELECT a FROM t WHERE a > ?'].map(
      (sql) => db.prepare(sql),
    );
    expect(all?.all()).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: null },
    ]);
    expect(renamed?.all()).toEqual([{ c: 2 }, { c: 3 }]);
    expect(none?.all(5)).toEqual([]);
    db.exec('ALTER TABLE t ADD COLUMN d DEFAULT 7');
    expect(all?.all()[0]).toEqual({ a: 1, b: 'x', d: 7 });
    const inserted = db.prepare('INSERT INTO t (a) VALUES (?) RETURNING a');
    expect(inserted.all(9)).toEqual([{ a: 9 }]);
    expect(db.prepare('DELETE FROM t').run().changes).toBe(3);
    db.close();
  });
});
