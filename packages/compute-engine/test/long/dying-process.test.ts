import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { bundledProgram } from '../../../../testing/bundled-program.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { contextOf, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

const PROGRAM = join(import.meta.dirname, '../dying-process.mjs');
const networkId = defaultPreset.networks![0]!.id;
const context = contextOf('p1');

/** Starts a process, and kills it after the catalog has responded. */
async function killedAfter(database: string, catalog: string, method: string, requested: object): Promise<void> {
  const args = [await bundledProgram(PROGRAM), database, catalog, method, JSON.stringify({ context, ...requested })];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [outcome] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended by itself, with ${code}`))),
    ]);
    expect(String(outcome)).toBe('done\n');
  } finally {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  }
}

describe.each(storesUnderTest(inject('postgresUrl')))('a process that is killed during a request, on $kind,', (db) => {
  let folder: string;
  let url: string;
  let engine: Engine;

  beforeEach(async () => {
    const opened = await db.open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-dying-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
    engine = await createEngine({ database: url });
  });
  afterEach(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  const newVolume = async () =>
    (await engine.embedded.volumes.createVolume(context.caller, { key: randomUUID(), sizeGb: 1 })).id;
  const volume = (id: string) => engine.embedded.volumes.getVolume(context.caller, id);
  const ports = (id: string) => engine.embedded.networks.listPorts(context.caller, { deviceIds: [id] });
  const boot = async () => {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const [server] = (await engine.servers.create(context, newServer)).servers;
    await engine.idle();
    return server!.id;
  };

  /**
   * Kills a process during a request. On PostgreSQL, the engine stays open; a SQLite file is opened again afterwards.
   */
  async function dies(catalog: string, method: string, request: object): Promise<void> {
    if (db.kind !== 'SQLite') return killedAfter(url, catalog, method, request);
    await engine.close();
    await killedAfter(url, catalog, method, request);
    engine = await createEngine({ database: url });
  }

  it('leaves no reserved volume for a server that was never stored', async () => {
    const volumeId = await newVolume();
    const device = { source: 'volume', sourceId: volumeId, destination: 'volume', bootIndex: 1 };
    const root = { source: 'image', sourceId: imageId, destination: 'local', bootIndex: 0 };
    const create = { name: 'web', flavorId: '1', imageId, networks: 'none', devices: [root, device] };
    await dies('volumes', 'reserve', { create });
    await expect.poll(() => volume(volumeId)).toMatchObject({ status: 'available', attachments: [] });
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    expect(await engine.servers.list(context, { limit: 10 })).toEqual([]);
  });

  it('attaches a volume that was reserved for a server', async () => {
    const server = await boot();
    const volumeId = await newVolume();
    await dies('volumes', 'reserve', { server, volume: { volumeId, allowShelved: true, multiattach: true } });
    await expect.poll(() => volume(volumeId)).toMatchObject({ status: 'in-use', attachments: [{}] });
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
  });

  it('leaves no port without a server', async () => {
    const server = await boot();
    await dies('networks', 'createPorts', { server, port: { networkId, toExternal: false, resourceRequests: true } });
    await expect.poll(() => ports(server)).toEqual([]);
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    expect((await engine.servers.get(context, server)).interfaces).toEqual([]);
  });
});
