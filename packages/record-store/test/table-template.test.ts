import { CompiledQuery, type Kysely } from 'kysely';
import { expect, it } from 'vitest';
import type { SchemaChanges } from '../src/schema/schema-change.js';
import type { Rows } from '../src/store/database.js';
import type { Store } from '../src/store/store.js';
import { openStore } from './open-store.js';
import { migrations } from './tables.js';

/** Opens an in-memory database; returns it with its content and the statements that created it. */
async function opened(changes: SchemaChanges) {
  const statements: string[] = [];
  const store = await openStore(':memory:', {}, { statement: ({ name }) => statements.push(name) }, changes);
  const content = await contentOf(store);
  await store.close();
  return { said: statements, content };
}

async function contentOf({ db }: Store) {
  const query = CompiledQuery.raw('select type, name, tbl_name, sql from sqlite_master order by type, name');
  const { rows: schema } = await db.executeQuery<{ type: string; name: string; sql: string | null }>(query);
  const tables = schema.filter(({ type }) => type === 'table');
  const rows = tables.map(async ({ name }) => {
    const found = await db.selectFrom(name).selectAll().execute();
    return [name, found.map(({ timestamp, ...row }) => row)] as const;
  });
  return { schema, rows: Object.fromEntries(await Promise.all(rows)) };
}

const copyOf = (changes: SchemaChanges): SchemaChanges => ({ ...changes });

it('a later in-memory database equals the result of all changes, without applying them', async () => {
  const changes = copyOf(migrations);
  const first = await opened(changes);
  const second = await opened(changes);
  expect(second.content).toEqual(first.content);
  expect(second.content.rows.kysely_migration?.map(({ name }) => name)).toEqual(Object.keys(migrations));
  // One statement for each table and index that remains: some changes create tables or indexes that later changes
  // replace.
  const objects = second.content.schema.filter(({ name, sql }) => sql !== null && !name.startsWith('sqlite_'));
  const schemaStatements = (statements: readonly string[]) => statements.filter((name) => name === 'schema').length;
  expect(schemaStatements(second.said)).toBe(objects.length);
  expect(schemaStatements(first.said)).toBeGreaterThan(objects.length);
});

it('databases that are created concurrently, from one or several lists of changes, each have their own tables', async () => {
  const changes = copyOf(migrations);
  const more = {
    ...changes,
    '9001-more': { up: (db: Kysely<Rows>) => db.schema.createTable('wishes').addColumn('id', 'text').execute() },
  };
  const all = await Promise.all([changes, more, changes, more].map((some: SchemaChanges) => opened(some)));
  const again = await Promise.all([opened(changes), opened(more)]);
  const wishes = [...all, ...again].map(({ content }) => content.schema.some(({ name }) => name === 'wishes'));
  expect(wishes).toEqual([false, true, false, true, false, true]);
});

it('writes to one database are not in the next one', async () => {
  const changes = copyOf(migrations);
  await opened(changes);
  const store = await openStore(':memory:', {}, undefined, changes);
  await store.db.deleteFrom('kysely_migration').execute();
  await store.close();
  expect((await opened(changes)).content.rows.kysely_migration).toHaveLength(Object.keys(migrations).length);
});

/** Returns the changes, preceded by another one that calls `begin` when it is applied. */
function begunBy(begin: () => void): SchemaChanges {
  const up = async (db: Kysely<Rows>) => {
    begin();
    await db.schema.createTable('firsts').addColumn('id', 'text').execute();
  };
  return { '0000-first': { up }, ...migrations };
}

it('databases that are created concurrently wait for the first one, which applies the changes', async () => {
  let applied = 0;
  const changes = begunBy(() => applied++);
  const all = await Promise.all([changes, changes, changes].map(opened));
  expect(applied).toBe(1);
  expect(all.map(({ content }) => content)).toEqual(all.map(() => all[0]?.content));
});

it('the next database applies the changes if the first one failed', async () => {
  let attempts = 0;
  const changes = begunBy(() => {
    attempts++;
    if (attempts === 1) throw new Error('the first attempt fails');
  });
  const results = await Promise.allSettled([changes, changes, changes].map(opened));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(attempts).toBe(2);
});
