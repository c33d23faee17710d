import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServerFilters, ServerQuery, ServerSortKey } from '../src/api/index.js';
import { coreOf } from '../src/engine/engine-core.js';
import { populateServers } from '../src/testing/populate-servers.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { planCosts } from './plan-cost.js';
import { sortKeys } from './servers/sort-keys.js';
import { storesUnderTest } from './stores-under-test.js';

const OWN = 100;
const LIMIT = 20;

/**
 * Changes servers of other projects so that many of them match each filter, whereas no server of the tested project
 * does.
 */
const OTHERS = `
  locked = 1, task_state = case when seq % 3 = 0 then 'rebooting' end, image_id = 'theirs', flavor_id = '2', host = 'theirs',
  vm_state = case seq % 4 when 0 then 'error' when 1 then 'rescued' when 2 then 'soft-delete' else 'stopped' end,
  deleted = case when seq % 5 = 0 then 1 else 0 end, addresses = '10.9.0.7', name = 'theirs-' || name`;

/** All filters of server lists. */
const filters: Readonly<Record<string, ServerFilters>> = {
  nothing: {},
  id: { id: 'unknown' },
  status: { statuses: ['ERROR'] },
  'two statuses': { statuses: ['ERROR', 'RESCUE'] },
  'a status of a task': { statuses: ['REBOOT'] },
  'a status that all have': { statuses: ['ACTIVE'] },
  vm_state: { vmState: 'stopped' },
  task_state: { taskState: 'rebooting' },
  user: { userId: 'unknown' },
  image: { imageId: 'theirs' },
  flavor: { flavorId: '2' },
  host: { host: 'theirs' },
  locked: { locked: true },
  'not locked': { locked: false },
  'changes-since': { changedSince: 1 },
  'changes-since now': { changedSince: 8_000_000_000_000_000 },
  'changes-before': { changedBefore: 1 },
  deleted: { deleted: true },
  'soft-deleted': { softDeleted: true },
  'soft-deleted alone': { softDeleted: true, vmState: 'soft-delete' },
  tags: { tags: ['theirs'] },
  'tags-any': { tagsAny: ['theirs', 'too'] },
  'not-tags': { notTags: ['theirs'] },
  'not-tags-any': { notTagsAny: ['theirs'] },
  'name: theirs': { patterns: { name: 'theirs' } },
  'name: all': { patterns: { name: 'erver' } },
  'name: whole': { patterns: { name: '^theirs$' } },
  'name: two letters': { patterns: { name: 'th' } },
  'name: pattern': { patterns: { name: '^th.*[0-9]$' } },
  'name and status': { patterns: { name: 'theirs' }, statuses: ['ERROR'] },
  ip: { patterns: { ip: '10.9.0.7' } },
  ip6: { patterns: { ip6: 'fd00' } },
  reservation: { patterns: { reservation_id: 'r-00000000' } },
  description: { patterns: { description: 'theirs' } },
  hostname: { patterns: { hostname: 'theirs' } },
  node: { patterns: { node: 'theirs' } },
  key: { patterns: { key_name: 'theirs' } },
  zone: { patterns: { availability_zone: 'theirs' } },
  'power state': { patterns: { power_state: '4' } },
  progress: { patterns: { progress: '7' } },
  created: { patterns: { created_at: '2001' } },
  launched: { patterns: { launched_at: '2001' } },
  terminated: { patterns: { terminated_at: '2001' } },
  'config drive': { patterns: { config_drive: 'True' } },
  'launch index': { patterns: { launch_index: '7' } },
  'access address': { patterns: { access_ip_v4: '10' } },
  'locked by': { patterns: { locked_by: 'theirs' } },
};
const sorted = (key: ServerSortKey) => (['asc', 'desc'] as const).map((direction) => ({ sort: [{ key, direction }] }));

const requests: readonly (readonly [string, Partial<ServerQuery> & { readonly marked?: true }])[] = [
  ...Object.entries(filters).map(([what, given]) => [what, { filters: given }] as const),
  ...sortKeys.flatMap((key) =>
    sorted(key).flatMap((given) => {
      const what = `by ${key} ${given.sort[0]!.direction}`;
      return [[what, given] as const, [`${what}, from a marker`, { ...given, marked: true }] as const];
    }),
  ),
  // Filters with their own or a shared index, in each sort order and from a marker.
  ...['status', 'a status that all have', 'task_state', 'locked', 'name: theirs', 'ip', 'changes-since'].flatMap(
    (what) =>
      sortKeys.map(
        (key) =>
          [
            `${what}, by ${key}, from a marker`,
            { ...sorted(key)[1], filters: filters[what], marked: true } as const,
          ] as const,
      ),
  ),
];

/** Creates a project with 100 servers, and many servers of other projects that match every filter. */
async function openAmong(database: string, others: number) {
  const engine = await engineUnderTest({ database });
  const { store } = coreOf(engine);
  const owners = Array.from({ length: 1 + others / OWN }, (_, n) => ({ projectId: `p${n}`, userId: `user-of-p${n}` }));
  if (store.kind === 'postgres') await sql`alter table servers set (autovacuum_enabled = off)`.execute(store.db);
  await populateServers(engine, { count: OWN + others, owners });
  await sql`update servers set ${sql.raw(OTHERS)} where project_id <> 'p0'`.execute(store.db);
  if (store.kind === 'postgres') {
    await sql`checkpoint`.execute(store.db);
    await sql`vacuum servers`.execute(store.db);
  }
  const requested: RecordedQuery[] = [];
  listenTo(store.db, 'own', requested);
  if (store.longReads !== store.db) listenTo(store.longReads, 'long', requested);
  const [, marker] = await engine.servers.list(contextOf('p0'), { limit: 2 });
  return { engine, queries: requested, marker: marker!.id };
}

describe.each(storesUnderTest(inject('postgresUrl')))(
  'queries for the servers of a project on $kind',
  ({ kind, database }) => {
    const folder = mkdtempSync(join(tmpdir(), 'others-'));
    const opened: Awaited<ReturnType<typeof openAmong>>[] = [];

    beforeAll(async () => {
      for (const others of [OWN, 100 * OWN]) {
        const url = kind === 'SQLite' ? join(folder, `${others}.db`) : await database();
        opened.push(await openAmong(url, others));
      }
    }, 300_000);
    afterAll(async () => {
      for (const { engine } of opened) await engine.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const isCondition = ({ sql: text }: CompiledQuery) => /select 1 from servers/.test(text);

    /** Returns the queries of the table of servers. */
    async function send(
      { engine, queries: request, marker }: (typeof opened)[number],
      { marked, ...query }: (typeof requests)[number][1],
    ) {
      request.length = 0;
      await engine.servers.list(contextOf('p0'), { limit: LIMIT, ...query, marker: marked && marker });
      const sent = request.map((one) => one.query).filter(({ sql: text }) => /from "?servers"?/.test(text));
      expect(sent.length).toBeGreaterThan(0);
      return sent;
    }

    const costOf = async (one: (typeof opened)[number], query: (typeof requests)[number][1]) =>
      planCosts(
        coreOf(one.engine).store.db,
        (await send(one, query)).filter((sent) => !isCondition(sent)),
      );

    if (kind === 'SQLite') {
      it.each(requests)('%s: reads no servers of other projects', async (_what, query) => {
        for (const one of opened) {
          for (const { sql: text, parameters } of await send(one, query)) {
            const plan = await coreOf(one.engine).store.db.executeQuery<{ detail: string }>(
              CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
            );
            const scans = plan.rows
              .map(({ detail }) => detail)
              .filter((detail) => /^(SCAN|SEARCH) servers\b/.test(detail));
            expect(scans.length, text).toBeGreaterThan(0);
            expect(scans, text).toEqual(
              scans.filter((detail) => /\((project_id|id|rowid|reservation_id)=\?/.test(detail)),
            );
          }
        }
      });
      return;
    }

    describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
      beforeAll(async () => {
        if (statistics === 'with statistics')
          for (const { engine } of opened) await sql`analyze`.execute(coreOf(engine).store.db);
      }, 60_000);

      it('counts only the servers of the project to decide where a query is executed', async () => {
        for (const one of opened) {
          const conditions = (await send(one, { filters: filters.tags })).filter(isCondition);
          expect(conditions).toHaveLength(1);
          const { scans, rows } = await planCosts(coreOf(one.engine).store.db, conditions);
          expect(scans).toEqual([]);
          expect(rows).toBeLessThanOrEqual(OWN + 2);
        }
      });

      it.each(requests)(
        '%s: costs no more with 10,000 servers of other projects than with 100',
        async (_what, query) => {
          const [few, many] = [await costOf(opened[0]!, query), await costOf(opened[1]!, query)];
          expect(many.scans).toEqual([]);
          expect(many.rows).toBeLessThanOrEqual(Math.max(few.rows, 2 * OWN + 1));
          // With more rows of other projects, the project's rows are more scattered and the indexes are deeper.
          expect(many.pages).toBeLessThanOrEqual(few.pages + 4 * Math.max(few.rows, OWN));
        },
      );
    });
  },
);
