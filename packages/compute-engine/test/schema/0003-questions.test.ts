import { openDatabase } from '@apistrata/record-store';
import { defaultDatabaseSettings } from '@apistrata/record-store/options';
import { Migrator } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { migrations } from '../../src/schema/migrations/index.js';

const postgresUrl = inject('postgresUrl');
const kinds = postgresUrl ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

describe.each(kinds)('a database from before change 0003 on %s', (kind) => {
  it('receives its addresses in the column that is searched', async () => {
    const url = kind === 'SQLite' ? ':memory:' : await freshDatabase(postgresUrl);
    const { db } = openDatabase(url, defaultDatabaseSettings);
    const migrateFirst = async (count: number) => {
      const earlier = Object.fromEntries(Object.entries(migrations).slice(0, count));
      const { error } = await new Migrator({ db, provider: { getMigrations: async () => earlier } }).migrateToLatest();
      if (error) throw error;
    };
    await migrateFirst(2);
    const fixedIps = [
      { address: '10.0.0.5', floating: ['203.0.113.7', '203.0.113.8'] },
      { address: 'fd00::5', floating: [] },
    ];
    const records = {
      without: { interfaces: [], name: '"address":"10.9.9.9"' },
      odd: { metadata: { nul: '\0', text: '\\u0000' }, interfaces: [{ fixedIps }] },
      several: { interfaces: [{ fixedIps: [] }, { fixedIps: fixedIps.slice(1) }, { fixedIps: fixedIps.slice(1) }] },
    };
    for (const [id, record] of Object.entries(records)) {
      await db
        .insertInto('servers')
        .values({ id, revision: 1, data: JSON.stringify({ id, ...record }), deleted: 0 })
        .execute();
    }
    await migrateFirst(3);
    const rows = await db.selectFrom('servers').select(['id', 'addresses']).execute();
    const addressesById = Object.fromEntries(
      rows.map(({ id, addresses }) => [id, addresses.split(' ').filter(Boolean).sort()]),
    );
    expect(addressesById).toEqual({
      without: [],
      odd: ['10.0.0.5', '203.0.113.7', '203.0.113.8', 'fd00::5'],
      several: ['fd00::5', 'fd00::5'],
    });
    await db.destroy();
  });
});
