import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { openStore, type Store } from '../../src/store/store.js';
import { tables } from '../../src/store/tables.js';

const add = (store: Store, name: string) =>
  store.transaction((tx) =>
    tables.keypairs.insert(tx, {
      userId: 'ada',
      name,
      type: 'ssh',
      publicKey: 'k',
      fingerprint: 'aa',
      createdAt: 1,
    }),
  );

describe('the log of a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-checkpoints-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is copied into the file beside what others do, also while they write, and goes with the last connection', async () => {
    const file = join(folder, 'cloud.db');
    const store = await openStore(file);
    // Within commits SQLite copies nothing now.
    await sql`pragma wal_autocheckpoint = 0`.execute(store.db);
    const copied = () => {
      const alone = join(folder, 'alone.db');
      copyFileSync(file, alone);
      const db = new Database(alone);
      try {
        return (db.prepare('select count(*) as n from keypairs').get() as { n: number }).n;
      } catch {
        // Not even the table is in the file yet.
        return 0;
      } finally {
        db.close();
      }
    };
    let made = 0;
    const addSome = () => Promise.all(Array.from({ length: 200 }, () => add(store, `k${made++}`)));
    await eventually(async () => {
      await addSome();
      expect(copied()).toBeGreaterThan(500);
    });
    expect(await tables.keypairs.count(store)).toBe(made);
    await store.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(copied()).toBe(made);
  });
});
