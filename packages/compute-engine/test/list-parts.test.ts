import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServerQuery } from '../src/api/index.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { type Asked, listenTo } from './listen-to.js';
import { planCosts } from './plan-cost.js';
import { storesUnderTest } from './stores-under-test.js';

const SMALL_PROJECTS = 60;
const EACH = 100;
const SMALL = SMALL_PROJECTS * EACH;
const HUGE = 12_000;
const SERVERS = SMALL + HUGE;
const LIMIT = 20;
/** Where trigrams are asked, so many rows of an index are looked at before. */
const FIRST_ROWS = 1000;
/** Rows of the table that a page may cost: itself, and those of which trigrams say that they may fit. */
const MOST_READ = 10 * LIMIT;
/** Where more servers have the trigrams of a part, these are not gone by. */
const MOST_CANDIDATES = 1000;
/** So many servers stand on one page of an index that holds names and addresses, at least. */
const IN_A_PAGE = 50;

const [postgres] = storesUnderTest(inject('postgresUrl')).filter(({ kind }) => kind === 'PostgreSQL');

/** One project has two thirds of all servers; which have a certain address, or a name of their own, is known by their numbers. */
describe.runIf(postgres)('parts of names and addresses among 18,000 servers on PostgreSQL', () => {
  let engine: Engine;
  const asked: Asked[] = [];
  const admin = contextOf('p7', { isAdmin: true });
  const db = () => coreOf(engine).store.db;

  beforeAll(async () => {
    engine = await engineUnderTest({ database: await postgres!.database() });
    // In turns: two of the huge project's to one of another.
    const owners = Array.from({ length: 3 * SMALL_PROJECTS }, (_, n) => {
      const projectId = n % 3 === 0 ? `p${n / 3}` : 'huge';
      return { projectId, userId: `user-of-${projectId}` };
    });
    await sql`alter table servers set (autovacuum_enabled = off)`.execute(db());
    await populateServers(engine, { count: SERVERS, owners });
    await sql`update servers set addresses = '10.0.' || seq % 200 || '.' || seq % 250`.execute(db());
    // What is not on the disk yet, vacuum does not take for committed.
    await sql`checkpoint`.execute(db());
    await sql`vacuum servers`.execute(db());
    listenTo(coreOf(engine).store.db, 'own', asked);
    listenTo(coreOf(engine).store.longReads, 'long', asked);
  }, 300_000);
  afterAll(() => engine?.close());

  /** What looking for servers costs, without reading what is told of them. */
  async function cost(who: string, query: Partial<ServerQuery>) {
    asked.length = 0;
    const allProjects = who === 'admin';
    const found = await engine.servers.list(allProjects ? admin : contextOf(who), {
      allProjects,
      limit: LIMIT,
      ...query,
    });
    const looking = asked.filter(({ query: { sql: text } }) => !/select 1 from servers|"data"/.test(text));
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
  const questions: readonly (readonly [string, Partial<ServerQuery>, readonly [huge: number, admin: number]])[] = [
    ['a part that all have', named('erver'), [LIMIT, LIMIT]],
    ['a part that few have', named('1777'), [7, 12]],
    ['a part that nobody has', named('wxyz'), [0, 0]],
    ['two letters that many have', named('77'), [LIMIT, LIMIT]],
    ['two letters that nobody has', named('zz'), [0, 0]],
    ['a letter that nobody has', named('z'), [0, 0]],
    ['a part that only the oldest have', named('er-00'), [LIMIT, LIMIT]],
    ['a start', named('^server-0177'), [LIMIT, LIMIT]],
    ['an end', named('0177$'), [1, 2]],
    ['a text that is no name', named('%_7'), [0, 0]],
    ['an underscore', named('r_0'), [0, 0]],
    ['a pattern', named('r-0.*1777'), [7, 12]],
    ['a part without letters', named('-'), [LIMIT, LIMIT]],
    ['a part, by name', { ...named('1777'), sort: byName }, [7, 12]],
    ['two letters that nobody has, by name', { ...named('zz'), sort: byName }, [0, 0]],
    ['an address that nobody has', { filters: { patterns: { ip: '203.0.113.77' } } }, [0, 0]],
    ['the start of an address, and a name', { filters: { patterns: { ip: '^203.0', name: '1777' } } }, [0, 0]],
  ];

  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    beforeAll(async () => {
      if (statistics === 'with statistics') await sql`analyze`.execute(db());
    }, 60_000);

    it.each(questions)('%s: a member of a huge project costs no look at rows that do not fit', async (_what, query) => {
      const { scans, read, pages } = await cost('huge', query);
      expect({ scans, read: Math.max(read, MOST_READ) }).toEqual({ scans: [], read: MOST_READ });
      expect(pages).toBeLessThanOrEqual(HUGE / IN_A_PAGE + 10 * MOST_READ);
    });

    it.each(questions)('%s: a member of a small project costs no more than that has', async (_what, query) => {
      const { scans, rows } = await cost('p7', query);
      expect({ scans, rows: Math.max(rows, EACH + LIMIT) }).toEqual({ scans: [], rows: EACH + LIMIT });
    });

    it.each(questions)('%s: an administrator costs no look at rows that do not fit', async (_what, query) => {
      const { scans, read } = await cost('admin', query);
      const most = query.filters?.patterns?.name === 'er-00' ? MOST_CANDIDATES + MOST_READ : MOST_READ;
      expect({ scans, read: Math.max(read, most) }).toEqual({ scans: [], read: most });
    });

    it('asks trigrams where a part is long enough, and goes by them where few have it', async () => {
      for (const name of ['1777', 'wxyz', '^server-0177']) {
        const { rows } = await cost('admin', named(name));
        expect(rows, name).toBeLessThanOrEqual(FIRST_ROWS + MOST_READ);
      }
      for (const name of ['zz', 'er-00']) expect((await cost('admin', named(name))).rows).toBeGreaterThan(FIRST_ROWS);
    });
  });

  it.each(questions)('%s: finds them', async (_what, query, counts) => {
    const found = [await cost('huge', query), await cost('admin', query)].map(({ found }) => found);
    expect(found).toEqual(counts);
  });

  it('finds the same in pages as at once, in either direction', async () => {
    for (const direction of ['asc', 'desc'] as const) {
      for (const [who, name] of [
        ['huge', '77'],
        ['admin', '77'],
        ['admin', '1777'],
        ['admin', '0177'],
      ] as const) {
        const allProjects = who === 'admin';
        const list = (query: Partial<ServerQuery>) =>
          engine.servers.list(allProjects ? admin : contextOf(who), {
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

  it('does without trigrams where the database has none', async () => {
    const before = await engine.servers.list(admin, { allProjects: true, limit: LIMIT, ...named('1777') });
    await sql`drop index servers_name_trigrams`.execute(db());
    const without = await cost('admin', named('1777'));
    expect(without).toMatchObject({ scans: [], found: before.length });
    expect(without.read).toBeLessThanOrEqual(MOST_READ);
  });
});
