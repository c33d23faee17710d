import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openStore } from '../open-store.js';

it('takes at most 2 KiB for each table and index of an empty database in memory', async () => {
  const store = await openStore(':memory:');
  try {
    const { rows } = await sql<{ bytes: number; parts: number }>`
      select page_count * page_size as bytes, (select count(*) from sqlite_schema where rootpage > 0) as parts
      from pragma_page_count(), pragma_page_size()`.execute(store.db);
    const [{ bytes, parts } = { bytes: 0, parts: 0 }] = rows;
    expect(parts).toBeGreaterThan(5);
    expect(bytes / parts).toBeLessThanOrEqual(2048);
  } finally {
    await store.close();
  }
});
