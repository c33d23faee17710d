import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, type Engine, type Server } from '@apistrata/compute-engine';
import { noMachines } from '@apistrata/compute-engine/drivers';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { buildGuest, missingForGuests } from './guest/build-guest.js';
import { GuestLine } from './guest/guest-line.js';
import { processesOf } from './processes-of.js';
import { ada, guestPreset, IMAGE, machineDirectory, NETWORK } from './qemu-cloud.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: hosts of virtual machines: this machine has no ${missing} ***\n`);

const PROGRAM = join(import.meta.dirname, 'host-process.mjs');
const admin = { ...ada, isAdmin: true, caller: { ...ada.caller, isAdmin: true, roles: ['admin'] } };
const BOOT = { timeout: 150_000, interval: 300 };

describe.skipIf(missing)('two hosts of virtual machines, on one computer', { timeout: 300_000 }, () => {
  const directory = machineDirectory();
  const hosts = new Map<string, ChildProcess>();
  let database: string;
  let engine: Engine;

  const folder = (host: string, id = '') => join(directory, host, 'machines', id);

  async function start(name: string): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, database, name, join(directory, name)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    hosts.set(name, child);
    await Promise.race([
      once(child.stdout!, 'data'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the host ended by itself, with ${code}`))),
    ]);
  }

  async function kill(name: string): Promise<void> {
    const child = hosts.get(name)!;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  }

  async function settled(id: string): Promise<Server> {
    return vi.waitFor(async () => {
      const server = await engine.servers.get(admin, id);
      expect(server.jobId).toBeNull();
      expect(server.fault).toBeNull();
      return server;
    }, BOOT);
  }

  async function booted(name: string): Promise<Server> {
    const wanted = { name, flavorId: 'small', imageId: IMAGE, networks: [{ networkId: NETWORK }], host: name };
    const { servers } = await engine.servers.create(admin, wanted);
    const server = await settled(servers[0]!.id);
    await vi.waitFor(async () => expect(await engine.consoles.output(admin, server)).toMatch(/GUEST ready/), BOOT);
    return server;
  }

  beforeAll(async () => {
    process.env.APISTRATA_SECRET_KEY ??= randomBytes(32).toString('base64');
    database = await freshDatabase(postgresUrl);
    const preset = { ...guestPreset(buildGuest(directory)), hosts: [] };
    engine = await createEngine({ database, driver: noMachines(), preset, onError: (error) => console.error(error) });
    await Promise.all(['h1', 'h2'].map(start));
  }, 120_000);

  afterAll(async () => {
    for (const name of hosts.keys()) await kill(name);
    await engine?.close();
    for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  it('boot guests each, which outlive their host program and are run by the next one', async () => {
    const [one, two] = await Promise.all([booted('h1'), booted('h2')]);
    expect([one.host, two.host]).toEqual(['h1', 'h2']);
    const pids = [processesOf(folder('h1', one.id)), processesOf(folder('h2', two.id))];
    expect(pids.map((found) => found.length)).toEqual([1, 1]);
    expect(await engine.servers.diagnostics(two)).toMatchObject({ state: 'running', memoryMaximumMb: 160 });

    const line = await GuestLine.open(join(folder('h1', one.id), 'serial'));
    const before = await line.count();
    await kill('h1');
    // Asked for while there is no host: done when there is one again.
    await engine.servers.act(admin, one.id, 'pause');
    await start('h1');
    expect(await settled(one.id)).toMatchObject({ vmState: 'paused', powerState: 3 });
    await engine.servers.act(admin, one.id, 'unpause');
    await settled(one.id);
    expect(await line.count()).toBeGreaterThan(before);
    line.close();
    expect([processesOf(folder('h1', one.id)), processesOf(folder('h2', two.id))]).toEqual(pids);

    await engine.servers.act(admin, one.id, 'resize', { flavorId: 'large' });
    expect(await settled(one.id)).toMatchObject({ vmState: 'resized', host: 'h1' });

    await engine.servers.delete(admin, one.id);
    await vi.waitFor(() => expect(processesOf(folder('h1'))).toEqual([]), BOOT);
    expect(processesOf(folder('h2', two.id))).toEqual(pids[1]);
  });
});
