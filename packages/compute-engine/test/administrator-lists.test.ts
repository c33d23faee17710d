import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { planCosts } from './plan-cost.js';
import { storesUnderTest } from './stores-under-test.js';

const OTHERS = 5000;
const BUSY = 3;
const PAGE = 20;
/** Maximum number of rows that a query may visit: two pages of migrations with their servers, and the hosts. */
const MAX_ROWS = 6 * PAGE;
const MANY = 'migrations of a host that has all';
const { caller } = contextOf('admin', { isAdmin: true });
const page = { newestFirst: true, limit: PAGE };

/** Queries of an administrator, each with the indexes that it uses on SQLite. */
const requests: Readonly<Record<string, readonly [(engine: Engine) => Promise<unknown>, ...string[]]>> = {
  hypervisors: [({ hypervisors }) => hypervisors.list(), 'servers_in_task'],
  'migrations in a status that none has': [
    ({ migrations }) => migrations.list({ ...page, status: 'error' }),
    'migrations_by_status',
  ],
  'migrations of a type that none has': [
    ({ migrations }) => migrations.list({ ...page, type: 'resize' }),
    'migrations_by_type',
  ],
  'migrations of a user without any': [
    ({ migrations }) => migrations.list({ ...page, userId: 'unknown' }),
    'migrations_by_user_id',
  ],
  'migrations of a host without any': [
    ({ migrations }) => migrations.list({ ...page, host: 'unknown' }),
    'migrations_by_source_host',
    'migrations_by_dest_host',
  ],
  [MANY]: [
    ({ migrations }) => migrations.list({ ...page, host: 'host1' }),
    'migrations_by_source_host',
    'migrations_by_dest_host',
  ],
  'the port with an address': [
    ({ embedded }) => embedded.networks.listPorts(caller, { address: '10.0.0.77' }),
    'sqlite_autoindex_ports_1',
  ],
};

const numbers = (kind: string) =>
  kind === 'SQLite'
    ? `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${OTHERS})`
    : `with numbers as (select generate_series(1, ${OTHERS}) as n)`;

describe.each(storesUnderTest(inject('postgresUrl')))(
  'queries of an administrator among 5,000 servers on $kind',
  ({ kind, database }) => {
    let engine: Engine;
    const requested: RecordedQuery[] = [];
    const db = () => coreOf(engine).store.db;
    const execute = (text: string) => sql.raw(text).execute(db());

    beforeAll(async () => {
      engine = await engineUnderTest({ database: await database() });
      await populateServers(engine, { count: OTHERS, owners: [{ projectId: 'theirs', userId: 'theirs' }] });
      const { rows } = await sql<{ id: string }>`select id from servers order by seq limit ${BUSY}`.execute(db());
      for (const { id } of rows) await sql`update servers set task_state = 'rebooting' where id = ${id}`.execute(db());
      const server = `'${rows[0]!.id}'`;
      const otherRow = `'theirs', 'theirs', 'host1', 'host2', 'completed', 'live-migration', 0, n`;
      await execute(`insert into migrations
        (id, revision, data, server_id, project_id, user_id, source_host, dest_host, status, type, hidden, updated_at)
        ${numbers(kind)} select 'their-' || n, n, '{"id":"their-' || n || '"}', ${server}, ${otherRow} from numbers`);
      await execute(`insert into ports (id, revision, data, project_id, network_id, device_id, name, mac)
        ${numbers(kind)} select 'their-' || n, n, '{}', 'theirs', 'theirs', 'theirs', '', 'mac-' || n from numbers`);
      await execute(`insert into ip_allocations (subnet_id, address, holder_id)
        ${numbers(kind)} select 'theirs', '10.1.' || n, 'their-' || n from numbers`);
      listenTo(db(), 'own', requested);
    }, 120_000);
    afterAll(() => engine?.close());

    async function send(request: (engine: Engine) => Promise<unknown>): Promise<readonly CompiledQuery[]> {
      requested.length = 0;
      await request(engine);
      const read = requested.map(({ query }) => query).filter(({ sql: text }) => text.startsWith('select'));
      expect(read.length).toBeGreaterThan(0);
      return read;
    }

    it('count the tasks of each host', async () => {
      const hypervisors = await engine.hypervisors.list();
      expect(hypervisors.reduce((sum, { workload }) => sum + workload, 0)).toBe(BUSY);
      expect(hypervisors.reduce((sum, { usage }) => sum + usage.servers, 0)).toBe(OTHERS);
    });

    it('list the servers of hosts, in parts', async () => {
      const few = await engine.hypervisors.list({ servers: true });
      const listed = few.flatMap(({ servers }) => servers!.map(({ id }) => id));
      expect(new Set(listed).size).toBe(OTHERS);
      for (const { servers, usage } of few) {
        const seqs = servers!.map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        expect(servers).toHaveLength(usage.servers);
      }
    });

    it.each([true, false])('list the migrations of a host page by page, newest first: %s', async (newestFirst) => {
      const all = await engine.migrations.list({ newestFirst, host: 'host2', limit: 3 * PAGE });
      const pages: string[] = [];
      for (let marker: string | undefined; pages.length < 3 * PAGE; marker = pages.at(-1)) {
        const next = await engine.migrations.list({ newestFirst, host: 'host2', limit: PAGE, marker });
        expect(next).toHaveLength(PAGE);
        pages.push(...next.map(({ id }) => id));
      }
      expect(pages).toEqual(all.map(({ id }) => id));
      expect(pages[0]).toBe(newestFirst ? `their-${OTHERS}` : 'their-1');
    });

    if (kind === 'SQLite') {
      it.each(Object.entries(requests))('%s: reads only what it returns', async (_what, [request, ...indexes]) => {
        const details: string[] = [];
        for (const { sql: text, parameters } of await send(request)) {
          const plan = await db().executeQuery<{ detail: string }>(
            CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
          );
          details.push(...plan.rows.map(({ detail }) => detail));
        }
        expect(details.filter((detail) => /^SCAN (servers|migrations|ports|ip_allocations)/.test(detail))).toEqual([]);
        for (const index of indexes) expect(details.join('\n')).toMatch(new RegExp(`SEARCH .* INDEX ${index}\\b`));
      });
      return;
    }

    describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
      beforeAll(async () => {
        if (statistics === 'with statistics') await sql`vacuum analyze`.execute(db());
      }, 60_000);

      // Without statistics, PostgreSQL expects few rows for each host, and reads and sorts all of them.
      const measured = Object.entries(requests).filter(([what]) => statistics === 'with statistics' || what !== MANY);

      it.each(measured)('%s: reads only what it returns', async (_what, [request]) => {
        const { scans, rows } = await planCosts(db(), await send(request));
        const many = ['servers', 'migrations', 'ports', 'ip_allocations'];
        expect({ scans: scans.filter((table) => many.includes(table)), rows: Math.max(rows, MAX_ROWS) }).toEqual({
          scans: [],
          rows: MAX_ROWS,
        });
      });
    });
  },
);
