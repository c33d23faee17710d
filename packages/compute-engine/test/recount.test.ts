import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { checkDatabase } from '../src/maintenance/check-database.js';
import { correctionText, recountHosts } from '../src/scheduler/recount.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { checkInvariants } from './model/invariants.js';
import { storesUnderTest } from './stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('the count of what hosts have left, on $kind,', ({ open }) => {
  let engine: Engine;
  let url: string;
  let folder: string;
  beforeEach(async () => {
    const opened = await open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-recount-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
    engine = await engineUnderTest({ database: url });
    const wanted = { name: 'web', flavorId: '1', imageId, networks: 'none', minCount: 3, maxCount: 3 } as const;
    await engine.servers.create(contextOf('p1'), wanted);
    await engine.idle();
  });
  afterEach(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  const capacity = async () => (await checkDatabase(url)).find(({ what }) => what === 'capacity');

  it('is left alone where it is what servers have claimed', async () => {
    expect(await recountHosts(coreOf(engine).store)).toEqual([]);
    expect(await capacity()).toMatchObject({ good: true });
  });

  it('is corrected where it is not, host by host, and reported', async () => {
    const { store } = coreOf(engine);
    const nodes = () => store.db.selectFrom('nodes').selectAll().orderBy('host').execute();
    const before = (await nodes()) as unknown as { host: string; vcpus_used: number; servers: number }[];
    const { host, vcpus_used, servers } = before[0]!;
    const wrong = { vcpus_used: vcpus_used + 4, servers: servers + 1 };
    await store.db.updateTable('nodes').set(wrong).where('host', '=', host).execute();
    expect(await capacity()).toEqual({ what: 'capacity', good: false, told: expect.stringContaining(`: ${host}`) });
    const corrections = await recountHosts(store);
    expect(corrections.map(correctionText)).toEqual([
      `The capacity of host ${host} was counted wrong, and is corrected: vcpus ${vcpus_used + 4} instead of ${vcpus_used}, servers ${servers + 1} instead of ${servers}.`,
    ]);
    expect(await nodes()).toEqual(before);
    expect(await capacity()).toMatchObject({ good: true });
    await checkInvariants(engine);
  });

  it('stays exact where servers come and go while it is counted', async () => {
    const { store } = coreOf(engine);
    const wanted = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const churn = async () => {
      for (let round = 0; round < 5; round++) {
        const { servers } = await engine.servers.create(contextOf('p1'), wanted);
        await engine.idle();
        await engine.servers.act(contextOf('p1'), servers[0]!.id, 'delete');
        await engine.idle();
      }
    };
    const recount = async () => {
      for (let round = 0; round < 10; round++) expect(await recountHosts(store)).toEqual([]);
    };
    await Promise.all([churn(), recount()]);
    await checkInvariants(engine);
  });
});
