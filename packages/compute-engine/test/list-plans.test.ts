import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServerFilters, ServerQuery, ServerSortKey } from '../src/api/index.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { type PlanCost, planCost } from './plan-cost.js';
import { storesUnderTest } from './stores-under-test.js';

const SERVERS = 20_000;
const PROJECTS = 200;
const LIMIT = 20;
/** The large project has as many servers as this number of other projects, and its queries may take long. */
const LARGE = 4;
/** Maximum number of rows that may be read for a page: a small multiple of the page size, or all rows of a project. */
const MAX_ROWS = SERVERS / PROJECTS;

describe.each(storesUnderTest(inject('postgresUrl')))('queries among 20,000 servers on $kind', ({ kind, database }) => {
  const folder = mkdtempSync(join(tmpdir(), 'plans-'));
  let engine: Engine;
  let markers: Readonly<Record<string, string>>;
  const requested: RecordedQuery<'own' | 'long'>[] = [];
  const member = contextOf('p7');
  const admin = contextOf('p7', { isAdmin: true });
  const large = contextOf('large');

  beforeAll(async () => {
    const url = await database();
    // An in-memory database has no reader threads.
    engine = await engineUnderTest({ database: kind === 'SQLite' ? join(folder, 'servers.db') : url });
    const owners = Array.from({ length: PROJECTS }, (_, n) => {
      const projectId = n < PROJECTS - LARGE ? `p${n}` : 'large';
      return { projectId, userId: `user-of-${projectId}` };
    });
    await populateServers(engine, { count: SERVERS, owners });
    // Only the tests may update the statistics.
    if (kind !== 'SQLite')
      await sql`alter table servers set (autovacuum_enabled = off)`.execute(coreOf(engine).store.db);
    await buildServers();
    const [own] = await engine.servers.list(member, { limit: 1 });
    const [foreign] = await engine.servers.list(admin, { limit: 1, allProjects: true, filters: { projectId: 'p111' } });
    markers = { member: own!.id, admin: foreign!.id };
    const { store: opened } = coreOf(engine);
    listenTo(opened.db, 'own', requested);
    if (opened.longReads !== opened.db) listenTo(opened.longReads, 'long', requested);
  }, 300_000);
  afterAll(async () => {
    await engine?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Marks thousands of servers as being built. As is typical, none of them waits for the scheduler. */
  async function buildServers(): Promise<void> {
    const { db } = coreOf(engine).store;
    await sql`update servers set vm_state = 'building', task_state = 'spawning' where seq % 7 = 0`.execute(db);
  }

  /** Returns the cost of a query, from the steps of SQLite's plan or the rows that PostgreSQL has read. */
  async function costOf(query: CompiledQuery): Promise<Pick<PlanCost, 'scans' | 'rows'>> {
    const { db } = coreOf(engine).store;
    if (kind === 'SQLite') {
      const plan = await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${query.sql}`, [...query.parameters]),
      );
      const details = plan.rows.map(({ detail }) => detail);
      return {
        scans: details.filter((detail) => /^SCAN servers(?! USING (COVERING )?INDEX)|TEMP B-TREE/.test(detail)),
        rows: 0,
      };
    }
    return planCost(db, query);
  }

  async function request(
    query: Partial<ServerQuery>,
    context = query.allProjects ? admin : member,
  ): Promise<typeof requested> {
    requested.length = 0;
    await engine.servers.list(context, { limit: LIMIT, ...query });
    return requested.filter(({ query: { sql: text } }) => /from "?servers"?/.test(text));
  }

  const selective = { name: '^server-000008$', reservation_id: 'r-00000000' };
  const indexed: Readonly<Record<string, ServerFilters>> = {
    'no filter': {},
    'its id': { id: 'unknown' },
    'its state': { vmState: 'rescued' },
    'a status that few have': { statuses: ['ERROR'] },
    'a status that many have': { statuses: ['BUILD'] },
    'two statuses': { statuses: ['ERROR', 'SHUTOFF'] },
    'a task': { taskState: 'rebooting' },
    'its name': { patterns: { name: selective.name } },
    'a name of none': { patterns: { name: '^unknown$' } },
    'its reservation': { patterns: { reservation_id: selective.reservation_id } },
  };
  const indexedForAdmins: Readonly<Record<string, ServerFilters>> = {
    ...indexed,
    'its project': { projectId: 'p111' },
    'its user': { userId: 'user-of-p111' },
    'a user without servers': { userId: 'unknown' },
    'an unused image': { imageId: 'none' },
    'an unused flavor': { flavorId: 'none' },
    'a flavor that all use': { flavorId: '1' },
    'its host': { host: 'none' },
    'locked ones': { locked: true },
  };
  /** Filters that few servers match, so that a long page costs no more than a short one. */
  const few = [
    'its id',
    'its state',
    'a task',
    'its name',
    'a name of none',
    'its reservation',
    'a user without servers',
    'an unused image',
    'an unused flavor',
    'its host',
    'locked ones',
  ];
  const orders: readonly ServerSortKey[] = ['created_at', 'updated_at', 'display_name', 'vm_state'];
  const ordersForAdmins: readonly ServerSortKey[] = [
    ...orders,
    'user_id',
    'image_ref',
    'instance_type_id',
    'project_id',
  ];
  const directions = ['asc', 'desc'] as const;
  const sorted = (keys: readonly ServerSortKey[]) =>
    keys.flatMap((key) => directions.map((direction) => ({ sort: [{ key, direction }] })));
  const queriesOf = (filters: typeof indexed, keys: readonly ServerSortKey[], role: 'member' | 'admin') => [
    ...Object.entries(filters).map(([what, given]) => [`${role}: ${what}`, { filters: given }] as const),
    ...sorted(keys).map((given) => [`${role}: ${given.sort[0]!.key} ${given.sort[0]!.direction}`, given] as const),
    ...sorted(keys).map(
      (given) =>
        [
          `${role}: ${given.sort[0]!.key} ${given.sort[0]!.direction}, from a marker`,
          { ...given, marked: role },
        ] as const,
    ),
  ];
  const requests: readonly (readonly [string, Partial<ServerQuery> & { readonly marked?: string }])[] = [
    ...queriesOf(indexed, orders, 'member'),
    ...queriesOf(indexedForAdmins, ordersForAdmins, 'admin').map(
      ([what, query]) => [what, { ...query, allProjects: true }] as const,
    ),
    ...few.map(
      (what) =>
        [`admin: ${what}, a long page`, { filters: indexedForAdmins[what], allProjects: true, limit: 1000 }] as const,
    ),
  ];

  /** Collects statistics while no server is being built, so that they are outdated afterwards. */
  async function outdateStatistics(): Promise<void> {
    const { db } = coreOf(engine).store;
    await sql`update servers set vm_state = 'active', task_state = null where task_state = 'spawning'`.execute(db);
    await sql`analyze`.execute(db);
    await buildServers();
  }

  describe.each(['without', 'with outdated', 'with current'])('%s statistics', (statistics) => {
    beforeAll(async () => {
      if (statistics === 'with outdated') await outdateStatistics();
      if (statistics === 'with current') await sql`analyze`.execute(coreOf(engine).store.db);
    }, 60_000);

    it.each(requests)('%s: reads little more than the page', async (_what, { marked, ...query }) => {
      const statements = await request({ ...query, marker: marked && markers[marked] });
      expect(statements.length).toBeGreaterThan(0);
      for (const { db, query: statement } of statements) {
        const { scans, rows } = await costOf(statement);
        expect({ statement: statement.sql, db, scans }).toEqual({ statement: statement.sql, db: 'own', scans: [] });
        expect(rows, statement.sql).toBeLessThanOrEqual(MAX_ROWS);
      }
    });
  });

  describe.each([
    ['a project', {}],
    ['all', { allProjects: true }],
  ] as const)('a substring of a name, among servers of %s', (_who, whose) => {
    it.runIf(kind === 'SQLite')('is searched without reading rows that do not match', async () => {
      const { db } = coreOf(engine).store;
      const [table] = (
        await sql<{ rootpage: number }>`select rootpage from sqlite_schema where name = 'servers'`.execute(db)
      ).rows;
      for (const [column, patterns] of Object.entries({ instr: { name: 'zzz' }, like: { ip: '10.9.9.9' } })) {
        const found = (await request({ ...whose, filters: { patterns } })).filter(
          ({ query }) => !/select 1 from servers/.test(query.sql),
        );
        expect(found).toHaveLength(1);
        for (const { query } of found) {
          const { rows: steps } = await db.executeQuery<Record<'opcode' | 'p1' | 'p2' | 'p4', unknown>>(
            CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters]),
          );
          const opened = steps.find(({ opcode, p2 }) => opcode === 'OpenRead' && p2 === table?.rootpage);
          const looked = steps.findIndex(({ opcode, p4 }) => opcode === 'Function' && String(p4).startsWith(column));
          const read = steps.findIndex(({ opcode, p1 }) => opcode === 'Column' && p1 === opened?.p1);
          expect({ opened: opened !== undefined, looked: looked > 0 }).toEqual({ opened: true, looked: true });
          expect(read).toBeGreaterThan(looked);
        }
      }
    });
  });

  it.runIf(kind === 'SQLite').each<[string, Partial<ServerQuery>]>([
    ['a substring of a name', { filters: { patterns: { name: 'zzz' } } }],
    ['an address', { filters: { patterns: { ip: '10.9.9.9' } } }],
    ['a key pair', { filters: { patterns: { key_name: 'zzz' } } }],
    ['a tag', { filters: { tags: ['zzz'] } }],
    ['two filters', { filters: { flavorId: '1', vmState: 'rescued' } }],
    ['deleted ones', { filters: { deleted: true } }],
    ['changes', { filters: { changedSince: Date.now() } }],
    ['a task of a status', { filters: { statuses: ['REBOOT'] } }],
    ['an order without an index', { sort: [{ key: 'task_state', direction: 'asc' }] }],
    ['two orders', { sort: ['display_name', 'vm_state'].map((key) => ({ key, direction: 'asc' }) as never) }],
  ])('%s: is executed without blocking other queries, unless a project has few servers', async (what, query) => {
    const includesDeleted = what === 'deleted ones' || what === 'changes';
    for (const [context, db] of [
      [admin, 'long'],
      [large, 'long'],
      [member, includesDeleted ? 'long' : 'own'],
    ] as const) {
      const statements = await request({ ...query, allProjects: context === admin }, context);
      const looking = statements.filter(({ query: { sql: text } }) => !/select 1 from servers|"seq" in \(/.test(text));
      expect(looking.map((one) => one.db)).toEqual(looking.map(() => db));
      expect(looking.length).toBeGreaterThan(0);
    }
  });

  it.each<[string, ServerFilters, number]>([
    ['a substring of a name', { patterns: { name: 'r-00000' } }, 9],
    ['the prefix of a name', { patterns: { name: '^server-00001' } }, 10],
    ['a pattern', { patterns: { name: 'server-0*77$' } }, 1],
    ['a host name', { patterns: { hostname: '^server-000077$' } }, 1],
    ['a node', { patterns: { node: 'unknown' } }, 0],
    ['a power state', { patterns: { power_state: '^1$', name: '00001' } }, 11],
  ])('finds all matches by %s', async (_what, filters, count) => {
    const found = await engine.servers.list(admin, { limit: 100, allProjects: true, filters });
    expect(found).toHaveLength(count);
  });
});
