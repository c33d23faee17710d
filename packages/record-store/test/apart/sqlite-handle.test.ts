import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqlite } from '../../src/sqlite/sqlite-handle.js';

afterEach(() => vi.restoreAllMocks());

describe('a SQLite database', () => {
  it('reports whether a transaction is open, and whether a statement returns rows', () => {
    const db = openSqlite(':memory:');
    expect(db.isTransaction).toBe(false);
    db.exec('BEGIN');
    expect(db.isTransaction).toBe(true);
    db.exec('ROLLBACK; CREATE TABLE t (a)');
    expect(db.prepare('SELECT 1').columns()).toHaveLength(1);
    expect(db.prepare('INSERT INTO t VALUES (1)').columns()).toHaveLength(0);
    db.close();
  });

  it('creates a file and its log for their owner only, and keeps the mode of an existing file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-mode-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const modes = () =>
      Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]));
    writeFileSync(join(folder, 'shared.db'), '', { mode: 0o640 });
    const handles = ['new.db', 'shared.db'].map((name) => openSqlite(join(folder, name)));
    for (const db of handles) db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    expect(modes()).toEqual({
      'new.db': 0o600,
      'new.db-wal': 0o600,
      'new.db-shm': 0o600,
      'shared.db': 0o640,
      'shared.db-wal': 0o640,
      'shared.db-shm': 0o640,
    });
    for (const db of handles) db.close();
  });

  class OldStatement {}
  class NewStatement {
    columns() {}
  }
  const closed = vi.fn();
  class OldDatabase {
    close = closed;
  }
  it.each([
    ['no library', undefined],
    ['a library without columns()', { StatementSync: OldStatement, DatabaseSync: OldDatabase }],
    ['a library without isTransaction', { StatementSync: NewStatement, DatabaseSync: OldDatabase }],
  ])('is not opened on a Node version with %s: the error contains the version to install', (_, library) => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(library as never);
    expect(() => openSqlite(':memory:')).toThrow(
      /^A SQLite database needs Node 22\.16 or newer; this is Node [\d.]+\. Install a newer Node, or use PostgreSQL \(npm install pg\)\.$/,
    );
  });

  it('returns rows as objects, with the current names of the columns', () => {
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
