import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { defaultSettings } from '../src/core/settings.js';
import { createEngine } from '../src/engine/create-engine.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import { contextOf, imageId } from './engine-under-test.js';
import { checkInvariants } from './model/invariants.js';

const postgresUrl = inject('postgresUrl');
const SERVERS = 24;
/** Longer than the leases of the processes. */
const PAUSE_MS = 1_500;

describe.skipIf(!postgresUrl)('a process that is paused for longer than its leases', { timeout: 120_000 }, () => {
  const children: ChildProcess[] = [];
  let engine: Engine;
  beforeAll(async () => {
    const database = await freshDatabase(postgresUrl);
    const quotas = { ...defaultSettings.quotas, instances: -1, cores: -1, ram: -1 };
    engine = await createEngine({ database, worker: false, settings: { quotas } });
    const program = await bundledProgram(join(import.meta.dirname, 'worker-process.mjs'));
    for (let index = 0; index < 2; index++) {
      const args = [program, JSON.stringify({ database, latencyMs: 150 })];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      await once(createInterface(child.stdout!), 'line');
    }
  }, 60_000);
  afterAll(async () => {
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.signalCode === null) await once(child, 'exit');
    }
    await engine.close();
  });

  it('leaves no server in ERROR and claims no capacity twice', async () => {
    const context = contextOf('p1', { isAdmin: true });
    for (const child of children) {
      const newServer = {
        name: 'web',
        flavorId: '1',
        imageId,
        networks: 'none',
        minCount: SERVERS,
        maxCount: SERVERS,
      } as const;
      await engine.servers.create(context, newServer);
      await pause(300);
      child.kill('SIGSTOP');
      await pause(PAUSE_MS);
      child.kill('SIGCONT');
    }
    await expect.poll(() => coreOf(engine).worker.pending()).toBe(0);
    const servers = await engine.servers.list(context, { limit: 100 });
    expect(servers.map(({ vmState, fault }) => [vmState, fault])).toEqual(
      Array.from({ length: 2 * SERVERS }, () => ['active', null]),
    );
    await checkInvariants(engine);
  });
});
