import { afterEach, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

describe.each(storesUnderTest(inject('postgresUrl')))('the health of an engine on $kind', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close().catch(() => {}));

  async function start(options: Parameters<typeof engineUnderTest>[0] = {}): Promise<void> {
    const url = await database();
    engine = await engineUnderTest({ database: url, ...options });
  }

  it('is healthy while the database accepts changes and jobs are executed', async () => {
    await start();
    expect(await engine.health.database()).toMatchObject({ healthy: true });
    expect(await engine.health.worker()).toMatchObject({ healthy: true, overdueMs: 0 });
  });

  it('reports jobs that no worker executes, and for how long they have been overdue', async () => {
    await start({ worker: false });
    await engine.servers.create(contextOf('p1'), { name: 'web', flavorId: '1', imageId, networks: 'none' });
    expect(await engine.health.worker()).toMatchObject({ healthy: true });
    await coreOf(engine)
      .store.db.updateTable('jobs')
      .set({ run_at: Date.now() - 45_000 })
      .execute();
    const notified = await engine.health.worker();
    expect(notified).toMatchObject({
      healthy: false,
      reason: expect.stringMatching(/^Jobs have been waiting for 4\d s/),
    });
    expect(notified.overdueMs).toBeGreaterThanOrEqual(45_000);
  });

  it('reports an unavailable database without its address', async () => {
    await start({ worker: false });
    await coreOf(engine).store.close();
    expect(await engine.health.database()).toEqual({ healthy: false, reason: 'The database cannot be reached.' });
    expect(await engine.health.worker()).toMatchObject({ healthy: false, reason: 'The database cannot be reached.' });
  });
});
