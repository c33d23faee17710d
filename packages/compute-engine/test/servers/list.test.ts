import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { ServerQuery } from '../../src/servers/list/list-plan.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';
import { sortKeys } from './sort-keys.js';

describe.each(storesUnderTest(inject('postgresUrl')))('lists of servers on $kind', ({ database }) => {
  let engine: Engine;
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const context = contextOf('p1');
  const list = async (query: Partial<ServerQuery>, as = context) =>
    (await engine.servers.list(as, { limit: 100, ...query })).map(({ name }) => name);

  beforeAll(async () => {
    const url = await database();
    engine = await engineUnderTest({ database: url, clock });
    for (const name of ['b', 'a', 'a%', 'c_']) {
      await clock.advance(1000);
      await engine.servers.create(contextOf('p1'), {
        name,
        flavorId: name === 'b' ? '2' : '1',
        imageId,
        networks: 'none',
        metadata: { odd: '\0' },
        tags: name.startsWith('a') ? ['x'] : [],
      });
      await engine.idle();
    }
    await engine.servers.create(contextOf('p2'), { name: 'other', flavorId: '1', imageId, networks: 'none' });
    await engine.idle();
    const [b] = await engine.servers.list(context, { limit: 1, filters: { patterns: { name: '^b$' } } });
    await engine.servers.act(contextOf('p1'), b!.id, 'os-stop');
    await engine.idle();
  });
  afterAll(() => engine.close());

  it('evaluate every kind of filter', async () => {
    const filtered = (filters: ServerQuery['filters']) => list({ filters });
    expect(await filtered({})).toEqual(['c_', 'a%', 'a', 'b']);
    expect(await filtered({ patterns: { name: 'a' } })).toEqual(['a%', 'a']);
    expect(await filtered({ patterns: { name: '^a' } })).toEqual(['a%', 'a']);
    expect(await filtered({ patterns: { name: '^a$' } })).toEqual(['a']);
    expect(await filtered({ patterns: { name: '_' } })).toEqual(['c_']);
    expect(await filtered({ patterns: { name: 'a%$' } })).toEqual(['a%']);
    expect(await filtered({ patterns: { name: '[bc]' } })).toEqual(['c_', 'b']);
    expect(await filtered({ patterns: { hostname: '^a' } })).toEqual(['a%', 'a']);
    expect(await filtered({ statuses: ['SHUTOFF'] })).toEqual(['b']);
    expect(await filtered({ statuses: ['SHUTOFF', 'ACTIVE'] })).toEqual(['c_', 'a%', 'a', 'b']);
    expect(await filtered({ statuses: ['REBOOT', 'RESIZE'] })).toEqual([]);
    expect(await filtered({ statuses: ['NOTHING'] })).toEqual([]);
    expect(await filtered({ flavorId: '2' })).toEqual(['b']);
    expect(await filtered({ imageId: 'a\0b' })).toEqual([]);
    expect(await filtered({ locked: false, tags: ['x'] })).toEqual(['a%', 'a']);
    expect(await filtered({ changedSince: clock.now() + 1 })).toEqual([]);
    expect(await filtered({ changedSince: Date.UTC(2026, 0, 1), notTagsAny: ['x'] })).toEqual(['c_', 'b']);
    expect(await filtered({ changedBefore: clock.now() - 1000 })).toEqual(['a%', 'a']);
    expect(await filtered({ deleted: true })).toEqual([]);
    expect(await filtered({ projectId: 'p2' })).toHaveLength(4);
    expect(await list({ allProjects: true, filters: { projectId: 'p2' } })).toEqual(['other']);
  });

  it.each(sortKeys)('are sorted by %s in both directions, with consistent pages', async (key) => {
    for (const direction of ['asc', 'desc'] as const) {
      const query = { allProjects: true, sort: [{ key, direction }] };
      const full = await list(query);
      expect(full).toHaveLength(5);
      const paged: string[] = [];
      for (let marker: string | undefined; paged.length < 6; ) {
        const [next] = await engine.servers.list(contextOf('p1', { isAdmin: true }), { ...query, marker, limit: 1 });
        if (!next) break;
        paged.push(next.name);
        marker = next.id;
      }
      expect(paged).toEqual(full);
    }
    const up = await list({ sort: [{ key, direction: 'asc' }] });
    expect(await list({ sort: [{ key, direction: 'desc' }] })).toEqual([...up].reverse());
  });

  it('read many servers in chunks, in order', async () => {
    const source = await coreOf(engine)
      .store.db.selectFrom('servers')
      .selectAll()
      .where('name', '=', 'a')
      .executeTakeFirstOrThrow();
    const { seq, ...row } = source;
    const rows = Array.from({ length: 1200 }, (_, n) => ({
      ...row,
      id: `id-${n}`,
      name: `many-${n}`,
      created_at: n,
      data: JSON.stringify({ ...JSON.parse(row.data), id: `id-${n}`, name: `many-${n}`, createdAt: n }),
    }));
    await coreOf(engine).store.transaction(async (tx) => {
      for (let from = 0; from < rows.length; from += 100) {
        await tx.db
          .insertInto('servers')
          .values(rows.slice(from, from + 100))
          .execute();
      }
    });
    const filters = { patterns: { name: '^many-\\d*7$' } };
    const all = await list({ filters, limit: 1000 });
    expect(all).toEqual(Array.from({ length: 120 }, (_, n) => `many-${1197 - n * 10}`));
    expect(await list({ filters, limit: 3, marker: 'id-27' })).toEqual(['many-17', 'many-7']);
    const byName = await list({ filters, limit: 2, sort: [{ key: 'hostname', direction: 'asc' }] });
    expect(byName).toHaveLength(2);
    expect(seq).toBeGreaterThan(0);
  });
});
