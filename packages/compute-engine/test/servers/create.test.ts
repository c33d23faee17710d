import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { EngineOptions } from '../../src/engine/engine-options.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))('creating servers on $kind', ({ database }) => {
  const engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  /** Starts two engines that share a database, or a single engine on SQLite. */
  async function start(options: EngineOptions = {}): Promise<readonly [Engine, Engine]> {
    const url = await database();
    const one = await engineUnderTest({ database: url, ...options });
    engines.push(one);
    if (!url.startsWith('postgres')) return [one, one];
    const other = await engineUnderTest({ database: url, ...options });
    engines.push(other);
    return [one, other];
  }

  async function outcomes(requests: readonly Promise<unknown>[]) {
    const settled = await Promise.allSettled(requests);
    const rejected = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    return { done: settled.length - rejected.length, rejected };
  }

  it('never exceeds the quotas, even with concurrent requests', async () => {
    const both = await start({ settings: { quotas: { instances: 5, cores: 4 } as never } });
    const requests = Array.from({ length: 20 }, (_, n) => both[n % 2]!.servers.create(contextOf('p1'), newServer));
    const { done, rejected } = await outcomes(requests);
    expect(done).toBe(4);
    expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(['FORBIDDEN']));
    expect(rejected[0].message).toBe('Quota exceeded for cores: Requested 1, but already used 4 of 4 cores');
  });

  it('fills a quota exactly between the minimum and the maximum, even with concurrent requests', async () => {
    const both = await start({ settings: { quotas: { instances: 10, cores: -1, ram: -1 } as never } });
    const requests = Array.from({ length: 6 }, (_, n) =>
      both[n % 2]!.servers.create(contextOf('p1'), { ...newServer, minCount: 2, maxCount: 4 }),
    );
    const { done } = await outcomes(requests);
    expect(done).toBe(3);
    expect(await both[0].servers.list(contextOf('p1'), { limit: 100 })).toHaveLength(10);
  });

  it('never accepts more members of a group than the quota allows', async () => {
    const both = await start({ settings: { quotas: { server_group_members: 3 } as never } });
    const id = randomUUID();
    await coreOf(both[0]).store.transaction((tx) =>
      tables.serverGroups.insert(tx, {
        id,
        projectId: 'p1',
        userId: 'user-of-p1',
        name: 'g',
        policy: 'soft-affinity',
        maxServerPerHost: null,
        createdAt: 0,
      }),
    );
    const requests = Array.from({ length: 8 }, (_, n) =>
      both[n % 2]!.servers.create(contextOf('p1'), { ...newServer, hints: { group: id } }),
    );
    expect((await outcomes(requests)).done).toBe(3);
  });

  it('attaches a volume to only one server, and leaves no unused reservation', async () => {
    const volume = { projectId: 'p1', sizeGb: 1, bootable: true };
    const [first, second] = [randomUUID(), randomUUID()];
    const both = await start({
      preset: {
        ...defaultPreset,
        volumes: [
          { ...volume, id: first },
          { ...volume, id: second },
        ],
      },
      settings: { quotas: { instances: 1 } as never },
    });
    const boot = (engine: Engine, sourceId: string) =>
      engine.servers.create(contextOf('p1'), {
        ...newServer,
        imageId: '',
        devices: [{ source: 'volume', destination: 'volume', sourceId, bootIndex: 0 }],
      });
    expect((await outcomes(Array.from({ length: 6 }, (_, n) => boot(both[n % 2]!, first)))).done).toBe(1);
    await expect(boot(both[0], second)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const { caller } = contextOf('p1');
    await expect(both[0].catalogs.volumes.getVolume(caller, second)).resolves.toMatchObject({ status: 'available' });
    await both[0].idle();
  });
});
