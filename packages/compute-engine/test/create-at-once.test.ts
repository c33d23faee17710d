import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import type { EngineOptions } from '../src/engine/engine-options.js';
import type { Server } from '../src/model/index.js';
import type { ObservedJob, ObservedStep } from '../src/observation/observer.js';
import { usageByHost } from '../src/scheduler/claims.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const wanted = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

/** Machines of which it turns out on their hosts that there is something to do. */
class BusyHosts extends SimulatedDriver {
  override nothingToDo(_work: unknown, server: Server): boolean {
    return server.host === null;
  }
}

describe.each(storesUnderTest(inject('postgresUrl')))(
  'a server for whose machine there is nothing to do, on $kind',
  ({ database }) => {
    let engine: Engine;
    afterEach(() => engine.close());

    async function start(options: EngineOptions = {}): Promise<void> {
      engine = await engineUnderTest({ database: await database(), ...options });
    }

    const pending = () => coreOf(engine).worker.pending();

    async function taken() {
      const usage = [...(await usageByHost(coreOf(engine).store)).values()];
      return usage.reduce((sum, { vcpus }) => sum + vcpus, 0);
    }

    it('is active when the request is answered, and leaves no job', async () => {
      await start();
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      expect(servers[0]).toMatchObject({ vmState: 'active', taskState: null, jobId: null, powerState: 1 });
      expect(await engine.servers.get(contextOf('p'), servers[0]!.id)).toEqual(servers[0]);
      expect(await pending()).toBe(0);
      expect(await taken()).toBe(1);
    });

    it('is told to those who watch jobs and steps, as others are', async () => {
      const jobs: ObservedJob[] = [];
      const steps: ObservedStep[] = [];
      await start({ observer: { job: (job) => jobs.push(job), step: (step) => steps.push(step) } });
      await engine.servers.create(contextOf('p'), wanted);
      expect(jobs).toEqual([{ kind: 'create', outcome: 'done', attempt: 1, ms: expect.any(Number), waitedMs: 0 }]);
      expect(steps.map(({ verb, outcome }) => [verb, outcome])).toEqual([
        ['prepare', 'done'],
        ['prepare', 'done'],
        ['spawn', 'done'],
      ]);
    });

    it('has a job where each piece of work is watched', async () => {
      const kinds: string[] = [];
      await start({
        observer: {
          around: (work, run) => {
            if (work.type === 'job') kinds.push(work.kind);
            return run();
          },
        },
      });
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      await engine.idle();
      expect(kinds).toEqual(['create']);
      expect((await engine.servers.get(contextOf('p'), servers[0]!.id)).vmState).toBe('active');
    });

    it('has a job where this process leaves work to others', async () => {
      await start({ worker: false });
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      expect(servers[0]).toMatchObject({ vmState: 'building', host: null });
      expect(await pending()).toBe(1);
    });

    it('waits for its job where machines take their time', async () => {
      await start({ driver: new SimulatedDriver({ clock: systemClock, latencyMs: 1 }) });
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      expect(servers[0]).toMatchObject({ vmState: 'building', taskState: 'scheduling', host: null });
      await engine.idle();
      expect((await engine.servers.get(contextOf('p'), servers[0]!.id)).vmState).toBe('active');
    });

    it('waits for its job, and has its place, where its host has something to do', async () => {
      await start({ driver: new BusyHosts({ clock: systemClock }) });
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      expect(servers[0]).toMatchObject({ vmState: 'building', host: expect.any(String) });
      await engine.idle();
      const made = await engine.servers.get(contextOf('p'), servers[0]!.id);
      expect(made).toMatchObject({ vmState: 'active', host: servers[0]!.host, claims: servers[0]!.claims });
      expect(await taken()).toBe(1);
    });

    it('is in error by its job where no host has room', async () => {
      await start();
      await coreOf(engine).store.db.updateTable('nodes').set({ vcpus_used: 64 }).execute();
      const { servers } = await engine.servers.create(contextOf('p'), wanted);
      expect(servers[0]).toMatchObject({ vmState: 'building', host: null });
      await engine.idle();
      const failed = await engine.servers.get(contextOf('p', { isAdmin: true }), servers[0]!.id);
      expect(failed).toMatchObject({
        vmState: 'error',
        host: null,
        fault: { message: expect.stringMatching(/No valid host/) },
      });
      expect(await taken()).toBe(128);
    });

    it('has a job of its own where several are asked for at once', async () => {
      await start();
      const { servers } = await engine.servers.create(contextOf('p'), { ...wanted, minCount: 3 });
      expect(servers.map(({ vmState }) => vmState)).toEqual(Array(3).fill('building'));
      await engine.idle();
      const made = await engine.servers.list(contextOf('p'), { limit: 10 });
      expect(made.map(({ vmState }) => vmState)).toEqual(Array(3).fill('active'));
      expect(await taken()).toBe(3);
    });
  },
);
