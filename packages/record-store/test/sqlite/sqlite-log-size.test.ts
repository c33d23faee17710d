import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openStore } from '../open-store.js';

const MIB = 2 ** 20;

it('merges the log of a SQLite file while it is small', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-log-'));
  const file = join(folder, 'compute.db');
  const store = await openStore(file);
  try {
    await sql`create table filler (content blob)`.execute(store.db);
    for (let written = 0; written < 24; written++)
      await store.transaction(({ db }) => sql`insert into filler values (randomblob(${MIB}))`.execute(db));
    expect(statSync(`${file}-wal`).size).toBeLessThan(12 * MIB);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
