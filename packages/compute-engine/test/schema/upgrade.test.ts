import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Rows, SchemaChange, SchemaChanges } from '@apistrata/record-store';
import {
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { backgroundContext } from '../../src/core/context.js';
import { createEngine } from '../../src/engine/create-engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { migrations } from '../../src/schema/migrations/index.js';
import { openStore } from '../../src/schema/open-store.js';
import { tables } from '../../src/schema/tables.js';

/** Changes of the next version: they add a table, an index, and two columns. One of the columns has a default. */
const added: SchemaChange = {
  async up(db: Kysely<Rows>) {
    await db.schema
      .createTable('wishes')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .execute();
    await db.schema.alterTable('keypairs').addColumn('colour', 'text').execute();
    await db.schema
      .alterTable('servers')
      .addColumn('stars', 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
    await db.schema.createIndex('servers_stars').on('servers').columns(['stars', 'seq']).execute();
  },
};
/** Changes of the version after the next: they remove a column that the next version no longer uses. */
const removed: SchemaChange = {
  needs: '9001-added',
  up: (db: Kysely<Rows>) => db.schema.alterTable('keypairs').dropColumn('colour').execute(),
};

const now = migrations;
const next: SchemaChanges = { ...now, '9001-added': added };
const afterNext: SchemaChanges = { ...next, '9002-removed': removed };
const before: SchemaChanges = Object.fromEntries(Object.entries(now).slice(0, -1));

const keypair = (name: string) =>
  ({ userId: 'ada', name, type: 'ssh', publicKey: 'ssh-rsa A', fingerprint: 'aa', createdAt: 5 }) as const;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'apistrata-upgrade-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const kinds = [
  { kind: 'SQLite', shared: false, database: async () => join(folder(), 'cloud.db') },
  ...(inject('postgresUrl')
    ? [{ kind: 'PostgreSQL', shared: true, database: () => freshDatabase(inject('postgresUrl')) }]
    : []),
] as const;

describe.each(kinds)('an upgrade on $kind', ({ shared, database }) => {
  /**
   * Opens the database as a given version, adds a key pair, and closes it, because only one process can use a SQLite
   * file.
   */
  async function runVersion(changes: SchemaChanges, url: string, name: string): Promise<readonly string[]> {
    const store = await openStore(url, {}, undefined, changes);
    try {
      await store.transaction((tx) => tables.keypairs.insert(tx, keypair(name)));
      return (await tables.keypairs.find(store)).map((found) => found.name);
    } finally {
      await store.close();
    }
  }

  it('keeps existing records, and allows processes of both versions to run alternately', async () => {
    const url = await database();
    expect(await runVersion(now, url, 'first')).toEqual(['first']);
    expect(await runVersion(next, url, 'second')).toEqual(['first', 'second']);
    expect(await runVersion(now, url, 'third')).toEqual(['first', 'second', 'third']);
    expect(await runVersion(next, url, 'fourth')).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('can also be applied in steps from the previous version', async () => {
    const url = await database();
    await (await openStore(url, {}, undefined, before)).close();
    expect(await runVersion(now, url, 'first')).toEqual(['first']);
    const old = await openStore(url, {}, undefined, before);
    expect((await tables.keypairs.find(old)).length).toBe(1);
    await old.close();
  });

  it('rejects processes that use what is removed, and accepts those that do not', async () => {
    const url = await database();
    await (await openStore(url, {}, undefined, afterNext)).close();
    await expect(openStore(url, {}, undefined, now)).rejects.toMatchObject({
      code: 'DATABASE_TOO_NEW',
      message: expect.stringMatching(/created by a newer version .*9001-added, 9002-removed/),
    });
    await (await openStore(url, {}, undefined, next)).close();
  });

  it('rejects a database with unknown requirements', async () => {
    const url = await database();
    const store = await openStore(url);
    await store.db.deleteFrom('schema_needs').execute();
    const timestamp = new Date().toISOString();
    await store.db.insertInto('kysely_migration').values({ name: '9999-future', timestamp }).execute();
    await store.close();
    await expect(openStore(url)).rejects.toMatchObject({ code: 'DATABASE_TOO_NEW' });
  });

  it.runIf(shared)(
    'can run while an old process creates servers, and old processes can still start afterwards',
    async () => {
      const url = await database();
      const secretKey = Buffer.alloc(32, 7).toString('base64');
      const old = await createEngine({ database: url, secretKey });
      onTestFinished(() => old.close());
      const context = backgroundContext({ userId: 'ada', projectId: 'demo' });
      const flavorId = '1';
      const create = async (engine: typeof old, name: string) => {
        const { servers } = await engine.servers.create(context, {
          name,
          flavorId,
          imageId: '70a599e0-31e7-49b7-b260-868f441e862b',
          networks: 'none',
        } as never);
        await engine.idle();
        return servers[0]!.id;
      };
      const ids = [await create(old, 'before')];
      const [newer] = await Promise.all([
        openStore(url, {}, undefined, next),
        create(old, 'meanwhile').then((id) => ids.push(id)),
      ]);
      onTestFinished(() => newer.close());
      ids.push(await create(old, 'after'));
      const late = await createEngine({ database: url, secretKey });
      onTestFinished(() => late.close());
      ids.push(await create(late, 'late'));
      const found = await tables.servers.find(newer);
      expect(found.map(({ id, vmState }) => [id, vmState])).toEqual(ids.map((id) => [id, 'active']));
      expect((await tables.servers.find(coreOf(old).store)).length).toBe(4);
    },
  );
});

/** Returns all statements of a schema change for PostgreSQL or SQLite. */
async function statementsOf(change: SchemaChange, postgres: boolean): Promise<readonly string[]> {
  const statements: string[] = [];
  const dialect: Dialect = {
    createAdapter: () => (postgres ? new PostgresAdapter() : new SqliteAdapter()),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<any>) => (postgres ? new PostgresIntrospector(db) : new SqliteIntrospector(db)),
    createQueryCompiler: () => (postgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
  };
  await change.up(new Kysely<Rows>({ dialect, log: ({ query }) => void statements.push(query.sql) }));
  return statements;
}

/** Changes that break processes of the previous version. Indexes may be dropped, because no code depends on them. */
const BREAKING = /drop (table|column)|rename|alter column|set not null|add constraint/i;
const REQUIRED_COLUMN = /add column "?\w+"? \w+ not null(?!.*default)/i;

it.each(Object.entries(migrations))('%s only adds, or declares its requirements', async (_name, change) => {
  // Some changes apply to one kind of database only.
  const statements = [...(await statementsOf(change, false)), ...(await statementsOf(change, true))];
  expect(statements.length).toBeGreaterThan(0);
  if (change.needs === undefined)
    expect(statements.filter((text) => BREAKING.test(text) || REQUIRED_COLUMN.test(text))).toEqual([]);
  else expect(Object.keys(migrations)).toContain(change.needs);
});

it.each([
  [added, true],
  [removed, false],
])('detects breaking changes', async (change, harmless) => {
  const statements = await statementsOf(change, true);
  expect(statements.some((text) => BREAKING.test(text) || REQUIRED_COLUMN.test(text))).toBe(!harmless);
});
