import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { NoValidHost } from '../src/scheduler/no-valid-host.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const server = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
const unlimited = { instances: -1, cores: -1, ram: -1 };

describe.each(storesUnderTest(inject('postgresUrl')))(
  'the creation of a server until it is ACTIVE, on $kind,',
  ({ kind, database }) => {
    // Polling is rare, because its statements would be counted as lease renewals.
    const worker = { pollMs: 600_000 };

    async function withEngine(use: (engine: Engine, statements: string[]) => Promise<void>): Promise<void> {
      const url = await database();
      const statements: string[] = [];
      const observer = { statement: ({ name }: { readonly name: string }) => statements.push(name) };
      const engine = await engineUnderTest({ database: url, observer, worker });
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

    it('takes two transactions and at most 21 statements', () =>
      withEngine(async (engine, statements) => {
        await create(engine);
        statements.length = 0;
        await create(engine);
        // Statements that poll for jobs of other processes do not count.
        const own = statements.filter((name) => name !== 'update jobs');
        expect(own.filter((name) => name === 'commit')).toHaveLength(2);
        expect(own.length).toBeLessThanOrEqual(21);
        expect(await coreOf(engine).worker.pending()).toBe(0);
      }));

    it('takes less than one transaction per server if many are created concurrently', () =>
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
        // The first request does not wait for the others, so it has separate commits.
        expect(statements.filter((name) => name === 'commit').length).toBeLessThanOrEqual(6);
        // Savepoints copy every page that changes, so they are used only after failures.
        expect(statements).not.toContain('savepoint');
        const servers = await engine.servers.list(contextOf('p'), { limit: 20 });
        expect(servers.map(({ vmState }) => vmState)).toEqual(Array(9).fill('active'));
        // Servers that are placed together take each other's claims into account.
        expect(new Set(servers.map(({ host }) => host)).size).toBe(2);
        const { db } = coreOf(engine).store;
        const nodes = await db.selectFrom('nodes').select(['servers', 'vcpus_used']).execute();
        expect(nodes.reduce((sum, node) => sum + node.servers, 0)).toBe(9);
      }));

    it.runIf(kind === 'PostgreSQL')('inserts the rows of concurrently created servers with shared statements', () =>
      withEngine(async (engine, statements) => {
        await engine.quotas.set({ projectId: 'p' }, unlimited, { force: true });
        await create(engine);
        statements.length = 0;
        const many = 16;
        await Promise.all(Array.from({ length: many }, () => engine.servers.create(contextOf('p'), server)));
        await engine.idle();
        const written = statements.filter((name) => /^(insert|update|delete) /.test(name) && name !== 'update jobs');
        // Each batch of requests needs four statements, including one for claims. Each batch of jobs needs three.
        expect(written.length).toBeGreaterThan(0);
        expect(written.length).toBeLessThanOrEqual(many);
        const servers = await engine.servers.list(contextOf('p'), { limit: 50 });
        expect(servers.map(({ vmState }) => vmState)).toEqual(Array(many + 1).fill('active'));
      }),
    );

    it('takes less than one transaction per server if no host has capacity', () =>
      withEngine(async (engine, statements) => {
        await engine.quotas.set({ projectId: 'p' }, unlimited, { force: true });
        const { db } = coreOf(engine).store;
        await db.updateTable('nodes').set({ vcpus_used: 64 }).execute();
        await create(engine);
        statements.length = 0;
        const many = 16;
        await Promise.all(Array.from({ length: many }, () => engine.servers.create(contextOf('p'), server)));
        await engine.idle();
        expect(statements.filter((name) => name === 'commit').length).toBeLessThan(many);
        const servers = await engine.servers.list(contextOf('p'), { limit: 50 });
        expect(servers.map(({ vmState }) => vmState)).toEqual(Array(many + 1).fill('error'));
        expect(new Set(servers.map(({ fault }) => fault?.message))).toEqual(new Set([new NoValidHost({}).message]));
        expect(await coreOf(engine).worker.pending()).toBe(0);
      }));

    it('never claims more capacity than exists, even if the combined requests exceed it', () =>
      withEngine(async (engine) => {
        await engine.quotas.set({ projectId: 'p' }, unlimited, { force: true });
        const { db } = coreOf(engine).store;
        await db.updateTable('nodes').set({ vcpus_used: 61 }).execute();
        await Promise.all(Array.from({ length: 12 }, () => engine.servers.create(contextOf('p'), server)));
        await engine.idle();
        const servers = await engine.servers.list(contextOf('p'), { limit: 20 });
        expect(servers.map(({ vmState }) => vmState).sort()).toEqual([
          ...Array(6).fill('active'),
          ...Array(6).fill('error'),
        ]);
        const nodes = await db.selectFrom('nodes').select(['servers', 'vcpus_used']).orderBy('seq').execute();
        expect(nodes).toEqual(Array(2).fill({ servers: 3, vcpus_used: 64 }));
      }));

    it('records the same history with and without subscribers of its steps', () =>
      withEngine(async (engine) => {
        const historyOf = async () => {
          const context = contextOf('p', { isAdmin: true });
          const { servers } = await engine.servers.create(context, server);
          await engine.idle();
          const action = await engine.instanceActions.get(servers[0]!.id, context.requestId);
          const host = (await engine.servers.get(context, servers[0]!.id)).host;
          return action.events.map((event) => ({
            ...event,
            host: event.host === host,
            startTime: typeof event.startTime,
            finishTime: typeof event.finishTime,
          }));
        };
        const unnoticed = await historyOf();
        const notified: string[] = [];
        const off = engine.on('*', ({ event_type }) => notified.push(event_type));
        expect(unnoticed).toEqual(await historyOf());
        off();
        expect(notified).toContain('instance.create.end');
        expect(unnoticed.map(({ name, result, host }) => [name, result, host])).toEqual([
          ['conductor_schedule_and_build_instances', 'Success', true],
          ['compute__do_build_and_run_instance', 'Success', true],
        ]);
      }));

    it('writes no unchanged column', () =>
      withEngine(async (engine) => {
        const { store } = coreOf(engine);
        const columns = sql`name, project_id, user_id, flavor_id, image_id, created_at`;
        if (kind === 'SQLite') {
          await sql`create trigger kept before update of ${columns} on servers begin select raise(abort, 'written'); end`.execute(
            store.db,
          );
        } else {
          await sql`create function reject() returns trigger language plpgsql as 'begin raise exception ''written''; end'`.execute(
            store.db,
          );
          await sql`create trigger kept before update of ${columns} on servers for each row execute function reject()`.execute(
            store.db,
          );
        }
        await create(engine);
        const [server] = await engine.servers.list(contextOf('p'), { limit: 1 });
        expect(server!.vmState).toBe('active');
        await engine.servers.act(contextOf('p'), server!.id, 'os-stop');
        await engine.idle();
        expect((await engine.servers.get(contextOf('p'), server!.id)).vmState).toBe('stopped');
        await expect(engine.servers.update(contextOf('p'), server!.id, { name: 'other' })).rejects.toThrow('written');
      }));
  },
);
