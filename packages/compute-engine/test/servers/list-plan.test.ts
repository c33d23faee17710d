import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import type { ObservedList } from '../../src/observation/index.js';
import type { ServerQuery } from '../../src/servers/list/list-plan.js';
import { contextOf, engineUnderTest } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

type Plan = Pick<ObservedList, 'source' | 'order' | 'filters' | 'indexed'>;

const DATABASE = { order: 'database', filters: 'database' } as const;

const PLANS: readonly (readonly [why: string, query: Partial<ServerQuery>, plan: Plan])[] = [
  ['the newest servers', {}, { ...DATABASE, source: 'newest', indexed: true }],
  [
    'another order that the database has an index for',
    { sort: [{ key: 'display_name', direction: 'asc' }] },
    { ...DATABASE, source: 'rows', indexed: true },
  ],
  [
    'an order that only records have',
    { sort: [{ key: 'hostname', direction: 'asc' }] },
    { source: 'rows', order: 'memory', filters: 'database', indexed: false },
  ],
  [
    'a filter that only records have',
    { filters: { tags: ['x'] } },
    { source: 'rows', order: 'database', filters: 'records', indexed: false },
  ],
  [
    'a status that several states have',
    { filters: { statuses: ['ACTIVE', 'SHUTOFF'] } },
    { ...DATABASE, source: 'merged', indexed: true },
  ],
];

describe.each(storesUnderTest(inject('postgresUrl')))('plans of lists on $kind', ({ kind, database }) => {
  let engine: Engine;
  const plans: ObservedList[] = [];
  const context = { ...contextOf('p1'), requestId: 'req-of-the-list' };

  beforeAll(async () => {
    engine = await engineUnderTest({ database: await database(), observer: { list: (plan) => plans.push(plan) } });
  });
  afterAll(() => engine.close());

  const planOf = async (query: Partial<ServerQuery>, as = context) => {
    plans.length = 0;
    await engine.servers.list(as, { limit: 10, ...query });
    expect(plans).toHaveLength(1);
    return plans[0];
  };

  it.each(PLANS)('contain the source, the order and the filters of %s', async (_why, query, plan) => {
    expect(await planOf(query)).toEqual({ requestId: 'req-of-the-list', ofProject: true, ...plan });
  });

  it('search parts of names by trigrams on PostgreSQL only', async () => {
    const plan = await planOf({ filters: { patterns: { name: 'part' } } });
    expect(plan).toMatchObject({ ...DATABASE, source: kind === 'PostgreSQL' ? 'substrings' : 'rows', indexed: false });
  });

  it('show whether the list is that of a project', async () => {
    const admin = { ...context, isAdmin: true };
    expect(await planOf({ allProjects: true }, admin)).toMatchObject({ ofProject: false, source: 'newest' });
  });

  it('are not created for lists that are empty without a query', async () => {
    plans.length = 0;
    expect(await engine.servers.list(context, { limit: 0 })).toEqual([]);
    expect(plans).toEqual([]);
  });
});
