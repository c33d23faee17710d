import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server as Listener, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { defaultSettings } from '../../src/core/settings.js';
import type { FenceGuard, FenceOrder } from '../../src/drivers/fence-guard.js';
import { noMachines } from '../../src/drivers/no-machines.js';
import { SimulatedDriver, type SimulatedDriverOptions } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { createHost, type Host, type HostOptions } from '../../src/hosts/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, imageId } from '../engine-under-test.js';

export const admin = contextOf('p1', { isAdmin: true });
export const DOWN_SECONDS = 3;

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
export class RecordingDriver extends SimulatedDriver {
  readonly events: string[] = [];

  override async fence(action: 'stop' | 'pause'): Promise<readonly string[]> {
    const ids = await super.fence(action);
    if (ids.length > 0) this.events.push(action);
    return ids;
  }

  override async perform(...order: Parameters<SimulatedDriver['perform']>): Promise<void> {
    await super.perform(...order);
    this.events.push(order[0].verb);
  }
}

/** A guard that records what the host requests. */
export class RecordingGuard implements FenceGuard {
  readonly orders: FenceOrder[] = [];
  pausedIds: readonly string[] = [];
  broken = false;
  delayMs = 0;
  ends = 0;

  async ensureRunning(): Promise<void> {
    if (this.broken) throw new Error('the guard cannot run');
  }

  async renew(order: FenceOrder): Promise<void> {
    await this.ensureRunning();
    await sleep(this.delayMs);
    this.orders.push(order);
  }

  async listPaused(): Promise<readonly string[]> {
    return this.pausedIds;
  }

  async end(): Promise<void> {
    this.ends += 1;
  }
}

/** A driver whose machines outlive the host process. */
export class GuardedDriver extends RecordingDriver {
  readonly guard = new RecordingGuard();
  /** The number of commands that are rejected because the host is fenced. */
  rejections = 0;

  override async perform(...order: Parameters<SimulatedDriver['perform']>): Promise<void> {
    if (this.rejections > 0) {
      this.rejections -= 1;
      throw Object.assign(new Error('the host is fenced'), { code: 'HOST_FENCED' });
    }
    await super.perform(...order);
  }
}

/** Creates an engine, a host h1 whose connection can be cut, and a host h2. The functions that close them are added to a list. */
export async function fencedCloud<D extends RecordingDriver = RecordingDriver>(
  open: (() => unknown)[],
  postgresUrl: string,
  options: Partial<HostOptions>,
  DriverClass: new (options: SimulatedDriverOptions) => D = RecordingDriver as never,
) {
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
  const drivers = new Map<string, D>();
  const hosts = new Map<string, Host>();
  for (const name of ['h1', 'h2']) {
    const host = await createHost({
      database: name === 'h1' ? through.href : url,
      name,
      driver: (clock) => {
        const driver = new DriverClass({ clock, directory: join(folder, name) });
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
  const host = hosts.get('h1');
  if (!driver || !host) throw new Error('h1 has no driver');
  const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none', host: 'h1' } as const;
  const { servers } = await engine.servers.create(admin, newServer);
  const id = servers[0]?.id ?? '';
  await engine.idle();
  const figures = async () => (await host.statistics.host())?.process;
  return { engine, line, driver, host, id, figures };
}

export const isUp = async (engine: Engine) => (await engine.services.on('h1', 'nova-compute')).up;
export const evacuate = (engine: Engine, id: string) => engine.servers.act(admin, id, 'evacuate', { stop: false });
