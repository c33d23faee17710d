import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server as Listener, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { defaultSettings } from '../../src/core/settings.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { createHost, type Host, type HostOptions } from '../../src/hosts/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { evacuationsFrom } from '../../src/server-migrations/evacuations.js';
import { contextOf, imageId } from '../engine-under-test.js';

const postgresUrl = inject('postgresUrl');
const admin = contextOf('p1', { isAdmin: true });
const DOWN_SECONDS = 3;

/** A connection to the database that can be cut. */
class Line {
  readonly #open = new Set<Socket>();
  readonly #server: Listener;
  #cut = false;

  constructor(target: URL) {
    this.#server = createServer((near) => {
      if (this.#cut) return near.destroy();
      const remote = connect(Number(target.port), target.hostname);
      for (const socket of [near, remote]) {
        this.#open.add(socket);
        socket.on('error', () => {}).once('close', () => this.#open.delete(socket));
      }
      near.pipe(remote).pipe(near);
    });
  }

  listen(): Promise<number> {
    return new Promise((resolve) =>
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as { port: number }).port)),
    );
  }

  set cut(cut: boolean) {
    this.#cut = cut;
    if (cut) for (const socket of this.#open) socket.destroy();
  }

  close(): void {
    this.cut = true;
    this.#server.close();
  }
}

/** A driver that records the commands of its machines, with their times. */
class RecordingDriver extends SimulatedDriver {
  readonly events: string[] = [];

  override async fence(how: 'stop' | 'pause'): Promise<readonly string[]> {
    const ids = await super.fence(how);
    this.events.push(how);
    return ids;
  }

  override async perform(...order: Parameters<SimulatedDriver['perform']>): Promise<void> {
    await super.perform(...order);
    this.events.push(order[0].verb);
  }
}

describe.skipIf(!postgresUrl)('a host that cannot reach the database', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  /** Creates an engine, a host h1 whose connection can be cut, and a host h2. */
  async function cloud(options: Partial<HostOptions>) {
    const url = await freshDatabase(postgresUrl);
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-fencing-'));
    open.push(() => rmSync(folder, { recursive: true, force: true }));
    const line = new Line(new URL(url));
    const through = new URL(url);
    through.port = String(await line.listen());
    open.push(() => line.close());
    const engine = await createEngine({
      database: url,
      driver: noMachines(),
      preset: { ...defaultPreset, hosts: [] },
      settings: { ...defaultSettings, serviceDownSeconds: DOWN_SECONDS, evacuateFencedOnly: true },
      worker: { pollMs: 100, retryMs: 100 },
    });
    open.push(() => engine.close());
    const drivers = new Map<string, RecordingDriver>();
    const hosts = new Map<string, Host>();
    for (const name of ['h1', 'h2']) {
      const host = await createHost({
        database: name === 'h1' ? through.href : url,
        name,
        driver: (clock) => {
          const driver = new RecordingDriver({ clock, directory: join(folder, name) });
          drivers.set(name, driver);
          return driver;
        },
        resources: { vcpus: 64, memoryMb: 65_536, diskGb: 1_000 },
        heartbeatMs: 300,
        leaseMs: 900,
        serviceDownSeconds: DOWN_SECONDS,
        ...options,
      });
      hosts.set(name, host);
      open.push(() => {
        line.cut = false;
        return host.stop();
      });
    }
    const driver = drivers.get('h1');
    if (!driver) throw new Error('h1 has no driver');
    const expected = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'h1' } as const;
    const { servers } = await engine.servers.create(admin, expected);
    const id = servers[0]?.id ?? '';
    await engine.idle();
    const ofProcess = async () =>
      (await hosts.get('h1')?.statistics.host())?.process ?? expect.fail('h1 has no figures');
    return { engine, line, driver, id, ofProcess };
  }

  const isUp = async (engine: Engine) => (await engine.services.on('h1', 'nova-compute')).up;
  const evacuate = (engine: Engine, id: string) => engine.servers.act(admin, id, 'evacuate', { stop: false });

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
    const statuses = async () => (await evacuationsFrom(store, ['h1'], ['done', 'completed'])).map((one) => one.status);
    await expect.poll(statuses).toEqual(['completed']);
  });

  it('pauses its machines, which resume when it returns', async () => {
    const { engine, line, driver, id, ofProcess } = await cloud({ fence: 'pause' });
    expect(await ofProcess()).toMatchObject({ fenced: false, fences: 0 });
    line.cut = true;
    await expect.poll(() => driver.events.at(-1)).toBe('pause');
    await expect.poll(ofProcess).toMatchObject({ leaseMs: 0, fenced: true, fences: 1 });
    expect((await ofProcess()).heartbeatAgeMs).toBeGreaterThanOrEqual((DOWN_SECONDS * 1000 * 2) / 3);
    line.cut = false;
    await expect.poll(() => driver.events.at(-1)).toBe('unpause');
    await expect.poll(ofProcess).toMatchObject({ fenced: false, fences: 1 });
    const { heartbeatAgeMs, leaseMs } = await ofProcess();
    expect(heartbeatAgeMs).toBeLessThan(DOWN_SECONDS * 1000);
    expect(leaseMs).toBeGreaterThan(0);
    expect(leaseMs).toBeLessThanOrEqual(900);
    expect(await driver.machines()).toEqual([id]);
    expect(await engine.servers.get(admin, id)).toMatchObject({ host: 'h1', vmState: 'active' });
  });

  it('without a fence keeps its servers until an administrator confirms that it is off', async () => {
    const { engine, line, driver, id } = await cloud({});
    line.cut = true;
    await expect.poll(() => isUp(engine)).toBe(false);
    expect(driver.events).not.toContain('stop');
    await expect(evacuate(engine, id)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('may still run on h1. Force the service of that host down'),
    });
    const { service } = await engine.services.on('h1', 'nova-compute');
    await engine.services.update(service.id, { forcedDown: true });
    await evacuate(engine, id);
    await expect.poll(async () => (await engine.servers.get(admin, id)).host).toBe('h2');
  });

  it('has a fence only with a driver and heartbeats that allow it', async () => {
    const base = { database: await freshDatabase(postgresUrl), name: 'h1', fence: 'stop' } as const;
    const driver = noMachines();
    await expect(createHost({ ...base, driver })).rejects.toThrow('the driver none has no fence');
    await expect(createHost({ ...base, driver, heartbeatMs: 21_000 })).rejects.toThrow('at most a third');
    await expect(createHost({ ...base, driver, fence: 'of' as 'off' })).rejects.toThrow('off, stop or pause');
  });
});
