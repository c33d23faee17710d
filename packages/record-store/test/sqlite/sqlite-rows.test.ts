import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { defaultDatabaseSettings } from '../../src/options/database-settings.js';
import { openDatabase } from '../../src/store/database.js';

it('returns rows with the columns of the statement, including those that were added after its first execution', async () => {
  const { db } = openDatabase(':memory:', defaultDatabaseSettings);
  onTestFinished(() => db.destroy());
  await sql`create table notes (id integer, text text)`.execute(db);
  await sql`insert into notes values (1, null), (2, 'b')`.execute(db);
  const all = () => sql`select * from notes order by id`.execute(db);
  expect((await all()).rows).toEqual([
    { id: 1, text: null },
    { id: 2, text: 'b' },
  ]);
  await sql`alter table notes add column color text default 'red'`.execute(db);
  expect((await all()).rows).toEqual([
    { id: 1, text: null, color: 'red' },
    { id: 2, text: 'b', color: 'red' },
  ]);
  expect((await sql`delete from notes`.execute(db)).numAffectedRows).toBe(2n);
  expect((await all()).rows).toEqual([]);
});
