import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { HostLease } from '../../src/hosts/host-lease.js';
import { createHost, type HostOptions } from '../../src/hosts/index.js';
import { findEvacuationsFrom } from '../../src/server-migrations/evacuations.js';
import { admin, DOWN_SECONDS, evacuate, fencedCloud, isUp } from './fenced-cloud.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('a host that cannot reach the database', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const cloud = (options: Partial<HostOptions>) => fencedCloud(open, postgresUrl, options);

  it('stops its machines before other processes consider it down, and removes evacuated ones before it is up', async () => {
    const { engine, line, driver, id } = await cloud({ fence: 'stop' });
    line.cut = true;
    await expect.poll(() => isUp(engine), { interval: 20 }).toBe(false);
    expect(driver.events.at(-1)).toBe('stop');
    await evacuate(engine, id);
    await expect.poll(async () => (await engine.servers.get(admin, id)).host).toBe('h2');
    await engine.idle();
    expect(await driver.machines()).toEqual([id]);
    line.cut = false;
    await expect.poll(() => isUp(engine), { interval: 5 }).toBe(true);
    expect([await driver.machines(), driver.events.at(-1)]).toEqual([[], 'leave']);
    const { store } = coreOf(engine);
    const statuses = async () =>
      (await findEvacuationsFrom(store, ['h1'], ['done', 'completed'])).map((one) => one.status);
    await expect.poll(statuses).toEqual(['completed']);
  });

  it('pauses its machines, which resume when it returns', async () => {
    const { engine, line, driver, id, figures } = await cloud({ fence: 'pause' });
    expect(await figures()).toMatchObject({ fenced: false, fences: 0 });
    line.cut = true;
    await expect.poll(() => driver.events.at(-1)).toBe('pause');
    await expect.poll(figures).toMatchObject({ leaseMs: 0, fenced: true, fences: 1 });
    expect((await figures())?.heartbeatAgeMs).toBeGreaterThanOrEqual((DOWN_SECONDS * 1000 * 2) / 3);
    line.cut = false;
    await expect.poll(() => driver.events.at(-1)).toBe('unpause');
    await expect.poll(figures).toMatchObject({ fenced: false, fences: 1 });
    const { heartbeatAgeMs, leaseMs } = (await figures()) ?? expect.fail('h1 has no figures');
    expect(heartbeatAgeMs).toBeLessThan(DOWN_SECONDS * 1000);
    expect(leaseMs).toBeGreaterThan(0);
    expect(leaseMs).toBeLessThanOrEqual(900);
    expect(await driver.machines()).toEqual([id]);
    expect(await engine.servers.get(admin, id)).toMatchObject({ host: 'h1', vmState: 'active' });
  });

  it('resumes its machines once if it returns while it checks for heartbeats', async () => {
    const { line, driver, figures } = await cloud({ fence: 'pause', leaseMs: 60_000 });
    line.cut = true;
    await expect.poll(() => driver.events.at(-1)).toBe('pause');
    // Each renewal of the lease waits until the next one starts: the renewal for the heartbeat waits for the renewal
    // for the check.
    const { renew } = HostLease.prototype;
    let startPrevious = () => {};
    const spy = vi.spyOn(HostLease.prototype, 'renew').mockImplementation(async function (this: HostLease) {
      startPrevious();
      await new Promise<void>((resolve) => {
        startPrevious = resolve;
      });
      return renew.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    line.cut = false;
    await expect.poll(() => driver.events.at(-1)).toBe('unpause');
    await sleep(600);
    expect(driver.events.filter((event) => event === 'pause')).toHaveLength(1);
    expect(await figures()).toMatchObject({ fenced: false, fences: 1 });
  });

  it('without a fence keeps its servers until an administrator confirms that it is off', async () => {
    const { engine, line, driver, id } = await cloud({});
    line.cut = true;
    await expect.poll(() => isUp(engine)).toBe(false);
    expect(driver.events).not.toContain('stop');
    await expect(evacuate(engine, id)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('may still run on h1. Force down the compute service of that host'),
    });
    const { service } = await engine.services.on('h1', 'nova-compute');
    await engine.services.update(service.id, { forcedDown: true });
    await evacuate(engine, id);
    await expect.poll(async () => (await engine.servers.get(admin, id)).host).toBe('h2');
  });

  it('has a fence only with a driver and heartbeats that allow it', async () => {
    const base = { database: await freshDatabase(postgresUrl), name: 'h1', fence: 'stop' } as const;
    const driver = noMachines();
    await expect(createHost({ ...base, driver })).rejects.toThrow('the driver none does not support fencing');
    await expect(createHost({ ...base, driver, heartbeatMs: 21_000 })).rejects.toThrow('at most a third');
    await expect(createHost({ ...base, driver, fence: 'of' as 'off' })).rejects.toThrow('off, stop or pause');
  });
});
