import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine.js';
import { coreOf } from '../src/engine-core.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const server = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))(
  'what a server costs until it is ACTIVE on $kind',
  ({ kind, database }) => {
    async function withEngine(use: (engine: Engine, statements: string[]) => Promise<void>): Promise<void> {
      const url = await database();
      const statements: string[] = [];
      const observer = { statement: ({ name }: { readonly name: string }) => statements.push(name) };
      const engine = await engineUnderTest({ database: url, observer });
      try {
        await use(engine, statements);
      } finally {
        await engine.close();
      }
    }
    const create = async (engine: Engine) => {
      await engine.servers.create(contextOf('p'), server);
      await engine.idle();
    };

    it('three transactions, and no more statements than they need', () =>
      withEngine(async (engine, statements) => {
        await create(engine);
        statements.length = 0;
        await create(engine);
        // Looking for jobs that others left is no part of it.
        const own = statements.filter((name) => name !== 'update jobs');
        expect(own.filter((name) => name === 'commit')).toHaveLength(3);
        expect(own.length).toBeLessThanOrEqual(kind === 'SQLite' ? 27 : 28);
        expect(await coreOf(engine).worker.pending()).toBe(0);
      }));

    it('a share of three transactions where many are made at the same time', () =>
      withEngine(async (engine, statements) => {
        await create(engine);
        statements.length = 0;
        const context = contextOf('p');
        await Promise.all(
          Array.from({ length: 8 }, () =>
            engine.servers.create({ ...context, requestId: contextOf('p').requestId }, server),
          ),
        );
        await engine.idle();
        // The first of them does not wait for the others.
        expect(statements.filter((name) => name === 'commit').length).toBeLessThanOrEqual(12);
        const made = await engine.servers.list(contextOf('p'), { limit: 20 });
        expect(made.map(({ vmState }) => vmState)).toEqual(Array(9).fill('active'));
        // Those that are placed together see what each other take.
        expect(new Set(made.map(({ host }) => host)).size).toBe(2);
        const { db } = coreOf(engine).store;
        const nodes = await db.selectFrom('nodes').select(['servers', 'vcpus_used']).execute();
        expect(nodes.reduce((sum, node) => sum + node.servers, 0)).toBe(9);
      }));

    it('no write of a column that stays as it is', () =>
      withEngine(async (engine) => {
        const { store } = coreOf(engine);
        const columns = sql`name, project_id, user_id, flavor_id, image_id, created_at`;
        if (kind === 'SQLite') {
          await sql`create trigger kept before update of ${columns} on servers begin select raise(abort, 'written'); end`.execute(
            store.db,
          );
        } else {
          await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''written''; end'`.execute(
            store.db,
          );
          await sql`create trigger kept before update of ${columns} on servers for each row execute function refuse()`.execute(
            store.db,
          );
        }
        await create(engine);
        const [made] = await engine.servers.list(contextOf('p'), { limit: 1 });
        expect(made!.vmState).toBe('active');
        await engine.servers.act(contextOf('p'), made!.id, 'os-stop');
        await engine.idle();
        expect((await engine.servers.get(contextOf('p'), made!.id)).vmState).toBe('stopped');
        await expect(engine.servers.update(contextOf('p'), made!.id, { name: 'other' })).rejects.toThrow('written');
      }));
  },
);
