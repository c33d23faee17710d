import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServerQuery } from '../src/api/index.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { planCosts } from './plan-cost.js';
import { storesUnderTest } from './stores-under-test.js';

const SMALL_PROJECTS = 60;
const EACH = 100;
const SMALL = SMALL_PROJECTS * EACH;
const HUGE = 12_000;
const SERVERS = SMALL + HUGE;
const LIMIT = 20;
/** Number of index rows that are searched before trigrams are used. */
const FIRST_ROWS = 1000;
/** Maximum number of table rows that may be read for a page: those on the page, and those that trigrams select. */
const MAX_READ = 10 * LIMIT;
/** Maximum number of servers for which trigrams are used. */
const MAX_CANDIDATES = 1000;
/** Minimum number of servers on a page of an index that contains names and addresses. */
const ROWS_PER_INDEX_PAGE = 50;

const [postgres] = storesUnderTest(inject('postgresUrl')).filter(({ kind }) => kind === 'PostgreSQL');

/** One project has two thirds of all servers. Names and addresses are derived from the servers' numbers. */
describe.runIf(postgres)('substrings of names and addresses among 18,000 servers on PostgreSQL', () => {
  let engine: Engine;
  const requested: RecordedQuery[] = [];
  const admin = contextOf('p7', { isAdmin: true });
  const db = () => coreOf(engine).store.db;

  beforeAll(async () => {
    engine = await engineUnderTest({ database: await postgres!.database() });
    // Of three successive servers, two belong to the large project and one to another project.
    const owners = Array.from({ length: 3 * SMALL_PROJECTS }, (_, n) => {
      const projectId = n % 3 === 0 ? `p${n / 3}` : 'huge';
      return { projectId, userId: `user-of-${projectId}` };
    });
    await sql`alter table servers set (autovacuum_enabled = off)`.execute(db());
    await populateServers(engine, { count: SERVERS, owners });
    await sql`update servers set addresses = '10.0.' || seq % 200 || '.' || seq % 250`.execute(db());
    // Vacuum does not mark rows as visible to all before their commits are on disk.
    await sql`checkpoint`.execute(db());
    await sql`vacuum servers`.execute(db());
    listenTo(coreOf(engine).store.db, 'own', requested);
    listenTo(coreOf(engine).store.longReads, 'long', requested);
  }, 300_000);
  afterAll(() => engine?.close());

  /** Returns the cost of finding servers, without reading their records. */
  async function cost(role: string, query: Partial<ServerQuery>) {
    requested.length = 0;
    const allProjects = role === 'admin';
    const found = await engine.servers.list(allProjects ? admin : contextOf(role), {
      allProjects,
      limit: LIMIT,
      ...query,
    });
    const looking = requested.filter(({ query: { sql: text } }) => !/select 1 from servers|"data"/.test(text));
    const texts = looking.filter(({ query: { sql: text } }) => /from "?servers/.test(text));
    expect(texts.length).toBeGreaterThan(0);
    const costs = await planCosts(
      db(),
      texts.map(({ query }) => query),
    );
    return { ...costs, found: found.length };
  }

  const named = (name: string): Partial<ServerQuery> => ({ filters: { patterns: { name } } });
  const byName = [{ key: 'display_name', direction: 'asc' }] as const;
  const requests: readonly (readonly [string, Partial<ServerQuery>, readonly [huge: number, admin: number]])[] = [
    ['a substring of all', named('erver'), [LIMIT, LIMIT]],
    ['a substring of few', named('1777'), [7, 12]],
    ['a substring of none', named('wxyz'), [0, 0]],
    ['two letters of many', named('77'), [LIMIT, LIMIT]],
    ['two letters of none', named('zz'), [0, 0]],
    ['a letter of none', named('z'), [0, 0]],
    ['a substring of only the oldest', named('er-00'), [LIMIT, LIMIT]],
    ['a prefix', named('^server-0177'), [LIMIT, LIMIT]],
    ['a suffix', named('0177$'), [1, 2]],
    ['a string that is not a name', named('%_7'), [0, 0]],
    ['an underscore', named('r_0'), [0, 0]],
    ['a pattern', named('r-0.*1777'), [7, 12]],
    ['a substring without letters', named('-'), [LIMIT, LIMIT]],
    ['a substring, by name', { ...named('1777'), sort: byName }, [7, 12]],
    ['two letters of none, by name', { ...named('zz'), sort: byName }, [0, 0]],
    ['an address of none', { filters: { patterns: { ip: '203.0.113.77' } } }, [0, 0]],
    ['the prefix of an address, and a name', { filters: { patterns: { ip: '^203.0', name: '1777' } } }, [0, 0]],
  ];

  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    beforeAll(async () => {
      if (statistics === 'with statistics') await sql`analyze`.execute(db());
    }, 60_000);

    it.each(requests)('%s: for a member of a huge project, reads no rows that do not match', async (_what, query) => {
      const { scans, read, pages } = await cost('huge', query);
      expect({ scans, read: Math.max(read, MAX_READ) }).toEqual({ scans: [], read: MAX_READ });
      expect(pages).toBeLessThanOrEqual(HUGE / ROWS_PER_INDEX_PAGE + 10 * MAX_READ);
    });

    it.each(requests)('%s: for a member of a small project, reads no more than its rows', async (_what, query) => {
      const { scans, rows } = await cost('p7', query);
      expect({ scans, rows: Math.max(rows, EACH + LIMIT) }).toEqual({ scans: [], rows: EACH + LIMIT });
    });

    it.each(requests)('%s: for an administrator, reads no rows that do not match', async (_what, query) => {
      const { scans, read } = await cost('admin', query);
      const max = query.filters?.patterns?.name === 'er-00' ? MAX_CANDIDATES + MAX_READ : MAX_READ;
      expect({ scans, read: Math.max(read, max) }).toEqual({ scans: [], read: max });
    });

    it('uses trigrams for long substrings that few servers have', async () => {
      for (const name of ['1777', 'wxyz', '^server-0177']) {
        const { rows } = await cost('admin', named(name));
        expect(rows, name).toBeLessThanOrEqual(FIRST_ROWS + MAX_READ);
      }
      for (const name of ['zz', 'er-00']) expect((await cost('admin', named(name))).rows).toBeGreaterThan(FIRST_ROWS);
    });
  });

  it.each(requests)('%s: finds all matches', async (_what, query, counts) => {
    const found = [await cost('huge', query), await cost('admin', query)].map(({ found }) => found);
    expect(found).toEqual(counts);
  });

  it('finds the same servers page by page as in one list, in either direction', async () => {
    for (const direction of ['asc', 'desc'] as const) {
      for (const [role, name] of [
        ['huge', '77'],
        ['admin', '77'],
        ['admin', '1777'],
        ['admin', '0177'],
      ] as const) {
        const allProjects = role === 'admin';
        const list = (query: Partial<ServerQuery>) =>
          engine.servers.list(allProjects ? admin : contextOf(role), {
            ...named(name),
            allProjects,
            limit: 1000,
            sort: [{ key: 'created_at', direction }],
            ...query,
          });
        const all = await list({});
        const paged = [];
        for (let marker: string | undefined; ; ) {
          const page = await list({ limit: 7, marker });
          paged.push(...page);
          if (page.length < 7) break;
          marker = page.at(-1)!.id;
        }
        expect(paged.map(({ name }) => name)).toEqual(all.map(({ name }) => name));
        expect(all.every((server) => server.name.includes(name))).toBe(true);
      }
    }
  });

  it('finds all matches without trigram indexes, and reads a limited number of rows', async () => {
    const before = await engine.servers.list(admin, { allProjects: true, limit: LIMIT, ...named('1777') });
    await sql`drop index servers_name_trigrams`.execute(db());
    const without = await cost('admin', named('1777'));
    expect(without).toMatchObject({ scans: [], found: before.length });
    expect(without.read).toBeLessThanOrEqual(MAX_READ);
  });
});
