import { totalmem } from 'node:os';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../../src/clock/clock.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Engine } from '../../src/engine/engine.js';
import { createHost } from '../../src/hosts/index.js';
import type { HostReport } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { freeDiskGb } from '../../src/scheduler/disk-space.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

/** A driver whose host report is set by the test. */
class ReportingDriver extends SimulatedDriver {
  report: HostReport = { problem: null };
  failure: Error | undefined;
  readonly #listeners = new Set<() => void>();

  async hostReport(): Promise<HostReport> {
    if (this.failure) throw this.failure;
    return this.report;
  }

  onHostChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(problem: string | null): void {
    this.report = { ...this.report, problem };
    for (const listener of this.#listeners) listener();
  }
}

const GIB = 2 ** 30;
const admin = contextOf('p1', { isAdmin: true });

describe.each(storesUnderTest(inject('postgresUrl')))('what a host reports, on $kind', ({ kind, database }) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const hosts = [{ name: 'h1', vcpus: 4, memoryMb: 4096, diskGb: 40 }];

  async function cloud(driver = new ReportingDriver({ clock: systemClock })) {
    const errors: unknown[] = [];
    const engine = await engineUnderTest({
      database: await database(),
      driver,
      preset: { ...defaultPreset, hosts },
      onError: (error) => errors.push(error),
    });
    closing.push(() => engine.close());
    return { engine, driver, errors };
  }

  async function stateOf(engine: Engine) {
    const { service } = await engine.services.on('h1', 'nova-compute');
    return [service.disabled, service.disabledReason];
  }

  async function flavorWith(engine: Engine, diskGb: number): Promise<string> {
    const { id } = await engine.flavors.create({ name: `disk${diskGb}`, vcpus: 1, memoryMb: 64, diskGb });
    return id;
  }

  async function placed(engine: Engine, flavorId = '1'): Promise<string | null> {
    const server = { name: 'w', flavorId, imageId, networks: 'none' } as const;
    const { servers } = await engine.servers.create(admin, server);
    await engine.idle();
    return (await engine.servers.get(admin, servers[0]!.id)).host;
  }

  it('disables its service until the problem ends, and no server is placed on it', async () => {
    const { engine, driver } = await cloud();
    expect(await stateOf(engine)).toEqual([false, null]);
    expect(await placed(engine)).toBe('h1');
    driver.change('no bridges');
    await expect.poll(() => stateOf(engine)).toEqual([true, 'AUTO: no bridges']);
    expect(await placed(engine)).toBeNull();
    expect(await engine.health.machines()).toEqual({ healthy: false, reason: 'no bridges' });
    driver.change('no namespaces');
    await expect.poll(() => stateOf(engine)).toEqual([true, 'AUTO: no namespaces']);
    driver.change(null);
    await expect.poll(() => stateOf(engine)).toEqual([false, null]);
    expect(await placed(engine)).toBe('h1');
    expect(await engine.health.machines()).toMatchObject({ healthy: true });
  });

  it('is known when the engine has started', async () => {
    const driver = new ReportingDriver({ clock: systemClock });
    driver.change('x'.repeat(400));
    const { engine } = await cloud(driver);
    expect(await stateOf(engine)).toEqual([true, `AUTO: ${'x'.repeat(249)}`]);
  });

  it('changes nothing that an administrator has decided', async () => {
    const { engine, driver } = await cloud();
    const { service } = await engine.services.on('h1', 'nova-compute');
    await engine.services.update(service.id, { disabled: true, disabledReason: 'repair' });
    driver.change('no bridges');
    await expect.poll(async () => (await engine.health.machines()).healthy).toBe(false);
    driver.change(null);
    driver.change('once more');
    expect(await stateOf(engine)).toEqual([true, 'repair']);
    await engine.services.update(service.id, { disabled: false, disabledReason: null });
    driver.change('still');
    await expect.poll(() => stateOf(engine)).toEqual([true, 'AUTO: still']);
  });

  it('contains the free disk, which hypervisors show and the scheduler respects', async () => {
    const { engine, driver } = await cloud();
    const [small, large] = await Promise.all([1, 5].map((diskGb) => flavorWith(engine, diskGb)));
    const disk = async () => {
      const [{ host, usage } = expect.fail('no hypervisor')] = await engine.hypervisors.list();
      return [host.node.disk, freeDiskGb(host.node, usage.diskGb)];
    };
    expect(await disk()).toEqual([undefined, 40]);
    driver.report = { problem: null, disk: { totalBytes: 40 * GIB, freeBytes: 7.5 * GIB, promisedBytes: 4 * GIB } };
    driver.change(null);
    await expect.poll(disk).toEqual([{ totalGb: 40, freeGb: 7, leastGb: 3 }, 7]);
    expect([await placed(engine, large), await placed(engine, small)]).toEqual([null, 'h1']);
    driver.report = { problem: null, disk: { totalBytes: 40 * GIB, freeBytes: 30 * GIB, promisedBytes: 0 } };
    driver.change(null);
    await expect.poll(disk).toEqual([{ totalGb: 40, freeGb: 30, leastGb: 30 }, 30]);
    expect(await placed(engine, large)).toBe('h1');
  });

  it('is part of the figures of the host, with those of the computer', async () => {
    const { engine, driver } = await cloud();
    const { computer, ...others } = (await engine.statistics.host()) ?? expect.fail('no figures');
    expect(others).toEqual({ name: 'h1', report: { problem: null }, process: undefined });
    expect(computer.memory?.totalBytes).toBe(totalmem());
    expect(computer.cpuSeconds?.user).toBeGreaterThan(0);
    driver.failure = new Error('gone');
    driver.change('unseen');
    await expect.poll(() => engine.statistics.host()).toMatchObject({ name: 'h1', report: undefined });
  });

  it('does not exist for simulated hosts', async () => {
    const engine = await engineUnderTest({ database: await database(), preset: { ...defaultPreset, hosts } });
    closing.push(() => engine.close());
    expect(await engine.statistics.host()).toBeUndefined();
  });

  it('changes nothing if the driver cannot report', async () => {
    const { engine, driver, errors } = await cloud();
    driver.failure = new Error('gone');
    driver.change('unseen');
    expect(await engine.health.machines()).toEqual({ healthy: false, reason: 'gone' });
    expect(await stateOf(engine)).toEqual([false, null]);
    await expect.poll(() => errors).toEqual([driver.failure]);
  });

  it.runIf(kind === 'PostgreSQL')('disables the service of a host process before it is up', async () => {
    const url = await database();
    const { engine } = await (async () => {
      const opened = await engineUnderTest({ database: url, preset: { ...defaultPreset, hosts: [] } });
      closing.push(() => opened.close());
      return { engine: opened };
    })();
    const driver = new ReportingDriver({ clock: systemClock });
    driver.change('no bridges');
    const host = await createHost({ database: url, name: 'h1', driver, address: '127.0.0.1', heartbeatMs: 200 });
    closing.push(() => host.stop());
    expect(await stateOf(engine)).toEqual([true, 'AUTO: no bridges']);
    expect(await host.health.machines()).toEqual({ healthy: false, reason: 'no bridges' });
    expect(await host.statistics.host()).toMatchObject({
      name: 'h1',
      computer: { memory: { totalBytes: totalmem() } },
      report: { problem: 'no bridges' },
      process: { fenced: false, fences: 0 },
    });
    expect(await host.statistics.guests()).toEqual({ guests: [], unresponsive: 0 });
    expect(await host.health.heartbeat()).toMatchObject({ healthy: true });
    driver.change(null);
    await expect.poll(() => stateOf(engine)).toEqual([false, null]);
  });
});
