import fc from 'fast-check';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
const START = Date.UTC(2026, 0, 1);

describe.each(storesUnderTest(inject('postgresUrl')))('quotas and usage on $kind', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close());

  async function start(options: Parameters<typeof engineUnderTest>[0] = {}): Promise<void> {
    const url = await database();
    engine = await engineUnderTest({ database: url, ...options });
  }

  it('keep the limits of projects, users and classes separate', async () => {
    await start();
    const { quotas } = engine;
    const coresOf = async (userId?: string) => (await quotas.limits({ projectId: 'p', userId })).cores;
    await quotas.set({ projectId: 'p' }, { cores: 8 }, { force: false });
    await quotas.set({ projectId: 'p', userId: 'u' }, { cores: 5 }, { force: false });
    await quotas.set({ projectId: 'p', userId: 'u' }, { cores: 6 }, { force: false });
    expect([await coresOf(), await coresOf('u'), await coresOf('v')]).toEqual([8, 6, 8]);
    const more = quotas.set({ projectId: 'p', userId: 'v' }, { cores: 3 }, { force: false });
    await expect(more).rejects.toThrow('must be less than or equal to 2');
    const less = quotas.set({ projectId: 'p' }, { cores: 5 }, { force: false });
    await expect(less).rejects.toThrow('must be greater than or equal to already used and reserved 6');
    await quotas.setClass('default', { cores: 1 });
    await quotas.remove({ projectId: 'p', userId: 'u' });
    expect([await coresOf(), await coresOf('u')]).toEqual([8, 8]);
    await quotas.set({ projectId: 'p', userId: 'u' }, { cores: 6 }, { force: false });
    await quotas.remove({ projectId: 'p' });
    expect([await coresOf(), await coresOf('u')]).toEqual([1, 1]);
  });

  it('are read together with one statement', async () => {
    const statements: string[] = [];
    await start({ observer: { statement: ({ name }) => statements.push(name) } });
    const { quotas } = engine;
    await engine.servers.create(contextOf('p'), newServer);
    await engine.idle();
    await engine.serverGroups.create(contextOf('p'), { name: 'g', policy: 'affinity' });
    await quotas.setClass('default', { cores: 30, ram: 31 });
    await quotas.set({ projectId: 'p' }, { ram: 41 }, { force: true });
    await quotas.set({ projectId: 'p', userId: 'u' }, { ram: 40 }, { force: true });
    const { userId } = contextOf('p').caller;
    for (const [scope, ram, instances] of [
      [{ projectId: 'p' }, 41, 1],
      [{ projectId: 'p', userId: 'u' }, 40, 0],
      [{ projectId: 'p', userId }, 41, 1],
      [{ projectId: 'q' }, 31, 0],
    ] as const) {
      statements.length = 0;
      const { limits, usage } = await quotas.overview(scope);
      expect(statements).toHaveLength(1);
      expect(limits).toEqual(await quotas.limits(scope));
      expect([limits.cores, limits.ram]).toEqual([30, ram]);
      expect([usage.instances, usage.server_groups]).toEqual([instances, instances]);
      expect(usage).toEqual(await quotas.usage(scope));
    }
  });

  it('keep all of many limits that are set concurrently', async () => {
    await start();
    const kinds = ['cores', 'ram', 'instances', 'key_pairs', 'server_groups'] as const;
    await Promise.all(kinds.map((kind) => engine.quotas.set({ projectId: 'p' }, { [kind]: 77 }, { force: true })));
    await Promise.all(kinds.map((kind) => engine.quotas.setClass('gold', { [kind]: 78 })));
    const [limits, gold] = [await engine.quotas.limits({ projectId: 'p' }), await engine.quotas.classLimits('gold')];
    for (const kind of kinds) expect([limits[kind], gold[kind]]).toEqual([77, 78]);
  });

  it('report usage by project and server, page by page', async () => {
    const clock = new ManualClock(START);
    await start({ clock });
    for (const project of ['b', 'a', 'b']) await engine.servers.create(contextOf(project), newServer);
    await engine.idle();
    await clock.advance(3_600_000);
    const window = { startUs: START * 1000, endUs: (START + 1_800_000) * 1000 };
    const all = await engine.usage.report({ window, limit: 10 });
    expect(all.map(({ projectId, totalHours }) => [projectId, totalHours])).toEqual([
      ['a', 0.5],
      ['b', 1],
    ]);
    const [first] = await engine.usage.report({ window, limit: 1 });
    const marker = first!.servers[0]!.server.id;
    const rest = await engine.usage.report({ window, limit: 10, marker });
    expect(rest.map(({ projectId, servers }) => [projectId, servers.length])).toEqual([['b', 2]]);
    expect(await engine.usage.report({ window, limit: 10, projectId: 'c' })).toEqual([]);
    expect(await engine.usage.report({ window: { startUs: 1, endUs: 2 }, limit: 10 })).toEqual([]);
    await expect(engine.usage.report({ window, limit: 1, marker: 'unknown' })).rejects.toThrow('marker [unknown]');
  });

  it('do not let concurrent requests exceed a limit', async () => {
    await start({ settings: { quotas: { instances: 4, cores: 6, ram: 3072 } as never } });
    const step = fc.constantFrom('create', 'create', 'create', 'delete', 'shelve', 'resize');
    const rounds = fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    let projects = 0;
    const random = fc.asyncProperty(rounds, async (history) => {
      const project = `random-${++projects}`;
      const list = () => engine.servers.list(contextOf(project), { limit: 50 });
      for (const round of history) {
        const servers = await list();
        const work = round.map(async (what, index) => {
          const server = servers[index % Math.max(servers.length, 1)];
          if (what === 'create') await engine.servers.create(contextOf(project), newServer);
          else if (!server) return;
          else if (what === 'delete') await engine.servers.delete(contextOf(project), server.id);
          else if (what === 'shelve') await engine.servers.act(contextOf(project), server.id, 'shelve');
          else await engine.servers.act(contextOf(project), server.id, 'resize', { flavorId: '2' });
        });
        await Promise.allSettled(work);
        const usage = await engine.quotas.usage({ projectId: project });
        expect(usage.instances).toBeLessThanOrEqual(4);
        expect(usage.cores).toBeLessThanOrEqual(6);
        expect(usage.ram).toBeLessThanOrEqual(3072);
        await engine.idle();
        const now = await engine.quotas.usage({ projectId: project });
        const alive = await list();
        expect(now.instances).toBe(alive.length);
        expect(now.ram).toBe(alive.reduce((sum, { flavor }) => sum + flavor.memoryMb, 0));
      }
    });
    await fc.assert(random, { numRuns: 12 });
  });
});
