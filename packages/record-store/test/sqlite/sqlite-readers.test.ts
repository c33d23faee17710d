import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseUnavailable } from '../../src/errors/database-unavailable.js';
import { SqliteReader } from '../../src/sqlite/sqlite-reader.js';
import type { Store } from '../../src/store/store.js';
import { openStore } from '../open-store.js';

/** A query that runs for seconds unless it is canceled. */
const endless = sql<{ n: number }>`
  with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 2000000) select max(i) as n from numbers`;

describe('long queries of a SQLite file', () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'readers-'));
    store = await openStore(join(folder, 'engine.db'));
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const addJob = (id: string) =>
    store.transaction((tx) =>
      tx.db.insertInto('jobs').values({ id, kind: 'k', payload: '', run_at: 0, lease_until: 0, attempts: 0 }).execute(),
    );
  const jobs = () => store.longReads.selectFrom('jobs').select('id').orderBy('id').execute();

  it('see everything that was committed before they started', async () => {
    expect(await jobs()).toEqual([]);
    for (const id of ['a', 'b', 'c']) {
      await addJob(id);
      expect((await jobs()).at(-1)).toEqual({ id });
    }
  });

  it('do not delay other queries', async () => {
    await jobs();
    const results: string[] = [];
    const long = endless.execute(store.longReads).then(({ rows: [row] }) => results.push(`counted ${row?.n}`));
    for (const id of ['a', 'b']) {
      await addJob(id);
      results.push(id);
    }
    await long;
    expect(results).toEqual(['a', 'b', 'counted 2000000']);
  });

  it('are executed in turn, in any number', async () => {
    await addJob('a');
    const responses = await Promise.all(Array.from({ length: 50 }, jobs));
    expect(responses).toEqual(Array.from({ length: 50 }, () => [{ id: 'a' }]));
  });

  it('change nothing', async () => {
    await expect(sql`delete from jobs returning id`.execute(store.longReads)).rejects.toThrow(DatabaseUnavailable);
    await expect(store.longReads.transaction().execute(async () => {})).rejects.toThrow(
      'read-only connections do not support transactions',
    );
  });

  it('fail individually, and leave the thread to the next one', async () => {
    await expect(sql`select 1 from nowhere`.execute(store.longReads)).rejects.toThrow('no such table: nowhere');
    expect(await jobs()).toEqual([]);
  });

  it('end with the store', async () => {
    const requested = Array.from({ length: 6 }, () => endless.execute(store.longReads));
    const outcome = Promise.all(requested.map((long) => expect(long).rejects.toThrow(DatabaseUnavailable)));
    // The query has been sent to the thread.
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    await outcome;
    store = await openStore(join(folder, 'engine.db'));
  });
});

describe('a reader', () => {
  it('reports a missing file, and can be used again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reader-'));
    const reader = new SqliteReader(join(folder, 'later.db'));
    await expect(reader.query('select 1', [])).rejects.toThrow(DatabaseUnavailable);
    await (await openStore(join(folder, 'later.db'))).close();
    expect(await reader.query('select count(*) as n from servers', [])).toEqual([{ n: 0 }]);
    await reader.end();
    expect(reader.isUsable).toBe(false);
    await expect(reader.query('select 1', [])).rejects.toThrow(DatabaseUnavailable);
    rmSync(folder, { recursive: true, force: true });
  });
});
