import { sql } from 'kysely';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { bootTime } from '../../src/clock/boot-time.js';
import type { FenceOrder } from '../../src/drivers/fence-guard.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import type { HostOptions } from '../../src/hosts/index.js';
import { tables } from '../../src/schema/tables.js';
import { admin, DOWN_SECONDS, evacuate, fencedCloud, GuardedDriver, isUp } from './fenced-cloud.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('a host whose fence has a guard', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const cloud = (options: Partial<HostOptions>) => fencedCloud(open, postgresUrl, options, GuardedDriver);

  /** Returns the state of the fence of h1 according to the API. */
  const fences = async (engine: Engine) =>
    (await tables.nodes.find(coreOf(engine).store, (q) => q.where('host', '=', 'h1')))[0]?.process?.fences;

  it('moves the time at which its guard acts with each heartbeat, and resumes what the guard has paused', async () => {
    const { driver, id } = await cloud({ fence: 'pause' });
    const { guard, events } = driver;
    const seen = guard.orders.length;
    await expect.poll(() => guard.orders.length).toBeGreaterThan(seen + 1);
    const [first, second] = guard.orders.slice(-2) as [FenceOrder, FenceOrder];
    expect(second.at).toBeGreaterThan(first.at);
    expect(second.at).toBeLessThanOrEqual(bootTime() + (DOWN_SECONDS * 1000 * 2) / 3);
    expect(second).toMatchObject({ action: 'pause', withinMs: 500 });
    expect(events).not.toContain('unpause');
    guard.pausedIds = [id];
    await expect.poll(() => events).toContain('unpause');
  });

  it('resumes nothing after a heartbeat that is too old when it is stored', async () => {
    const { driver, id } = await cloud({ fence: 'pause' });
    const { guard, events } = driver;
    guard.delayMs = DOWN_SECONDS * 1000;
    guard.pausedIds = [id];
    const seen = guard.orders.length;
    await expect.poll(() => guard.orders.length).toBeGreaterThan(seen + 1);
    expect(events).not.toContain('unpause');
    guard.delayMs = 0;
    await expect.poll(() => events).toContain('unpause');
  });

  it('repeats a command that its driver rejected because of the fence', async () => {
    const { engine, driver, id } = await cloud({ fence: 'stop' });
    await engine.servers.act(admin, id, 'os-stop');
    await engine.idle();
    driver.rejections = 2;
    await engine.servers.act(admin, id, 'os-start');
    await engine.idle();
    expect(await engine.servers.get(admin, id)).toMatchObject({ vmState: 'active', fault: null });
    expect([driver.rejections, driver.events.at(-1)]).toEqual([0, 'power_on']);
  });

  it('leaves the fence to its guard, and acts itself if the guard cannot run', async () => {
    const { engine, line, driver } = await cloud({ fence: 'stop' });
    line.cut = true;
    await expect.poll(() => isUp(engine), { interval: 20 }).toBe(false);
    expect(driver.events).not.toContain('stop');
    driver.guard.broken = true;
    await expect.poll(() => driver.events.at(-1)).toBe('stop');
  });

  it('claims to have a fence only while its guard can run', async () => {
    const { engine, line, driver, id } = await cloud({ fence: 'stop' });
    expect(await fences(engine)).toBe(true);
    driver.guard.broken = true;
    await expect.poll(() => fences(engine)).toBeUndefined();
    driver.guard.broken = false;
    await expect.poll(() => fences(engine)).toBe(true);
    driver.guard.broken = true;
    await expect.poll(() => fences(engine)).toBeUndefined();
    line.cut = true;
    await expect.poll(() => isUp(engine)).toBe(false);
    await expect(evacuate(engine, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('withdraws its fence and ends its guard when it is stopped, because its machines continue to run', async () => {
    const { engine, driver, host, id } = await cloud({ fence: 'stop' });
    await host.stop();
    expect([await fences(engine), driver.guard.ends]).toEqual([undefined, 1]);
    await expect.poll(() => isUp(engine)).toBe(false);
    expect(driver.events).not.toContain('stop');
    await expect(evacuate(engine, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('leaves the guard to the process that has taken over its name', async () => {
    const onLost = vi.fn();
    const { engine, driver } = await cloud({ fence: 'stop', onLost });
    const { db } = coreOf(engine).store;
    await sql`update host_holds set owner = 'another', lease_until = ${Date.now() + 60_000} where host = 'h1'`.execute(
      db,
    );
    await expect.poll(() => onLost.mock.calls.length).toBe(1);
    expect([await fences(engine), driver.guard.ends]).toEqual([true, 0]);
  });

  it('ends the guards of earlier processes if it has no fence', async () => {
    const { engine, driver } = await cloud({});
    await expect.poll(() => driver.guard.ends).toBeGreaterThan(0);
    expect([await fences(engine), driver.guard.orders]).toEqual([undefined, []]);
  });
});
