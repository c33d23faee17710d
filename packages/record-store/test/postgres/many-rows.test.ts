import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { insertRows, updateRows } from '../../src/batching/many-rows.js';
import { storesUnderTest } from '../stores-under-test.js';

const COLUMNS = ['seq', 'revision', 'name', 'number'] as const;
const texts = ['', 'plain', '"quoted", {braced} and \\', "it's\na line", 'é 🚀 \u2028', 'NULL', null];
const integers = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 7, null];
const bigints = [1, 2, 2 ** 32 + 5, -3, -(2 ** 40) - 9, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

const rows = texts.map((text, index) => [index + 1, bigints[index], text, integers[index]]);

describe.each(storesUnderTest(inject('postgresUrl')))(
  'rows that are written with one statement on $kind',
  ({ kind, open }) => {
    it.runIf(kind === 'PostgreSQL')('are stored and changed with any values', async () => {
      const opened = await open();
      try {
        await opened.store.transaction(async (tx) => {
          await sql`create table many_rows (seq bigint, revision bigint, name text, number integer)`.execute(tx.db);
          const stored = async () =>
            (await tx.db.selectFrom('many_rows').select(COLUMNS).orderBy('seq').execute()).map((row) =>
              COLUMNS.map((column) => row[column]),
            );
          await insertRows(tx, 'many_rows', COLUMNS, rows);
          expect(await stored()).toEqual(rows);
          const changed = rows.map(([seq, revision, name, number]) => [seq, 5, `${name}!`, number, seq, revision]);
          const updated = await updateRows(tx, 'many_rows', COLUMNS, [...changed, [99, 5, 'missing', 1, 99, 1]]);
          expect([...updated].sort()).toEqual(rows.map(([seq]) => seq));
          expect(await stored()).toEqual(changed.map((row) => row.slice(0, COLUMNS.length)));
          await sql`drop table many_rows`.execute(tx.db);
        });
      } finally {
        await opened.close();
      }
    });
  },
);
