import { afterEach, describe, expect, inject, it } from 'vitest';
import { systemClock } from '../src/clock/clock.js';
import { SimulatedDriver } from '../src/drivers/simulated.js';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import type { EngineOptions } from '../src/engine/engine-options.js';
import type { Server } from '../src/model/index.js';
import type { ObservedJob, ObservedStep } from '../src/observation/observer.js';
import { defaultPreset } from '../src/preset/preset.js';
import { usageByHost } from '../src/scheduler/claims.js';
import { contextOf, engineUnderTest, imageId } from './engine-under-test.js';
import { storesUnderTest } from './stores-under-test.js';

const server = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;

describe.each(storesUnderTest(inject('postgresUrl')))('a new server, on $kind', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close());

  async function start(options: EngineOptions = {}): Promise<void> {
    engine = await engineUnderTest({ database: await database(), ...options });
  }

  async function create(count = 1): Promise<readonly Server[]> {
    return (await engine.servers.create(contextOf('p', { isAdmin: true }), { ...server, minCount: count })).servers;
  }

  const idOf = (servers: readonly Server[]) => servers[0]?.id ?? '';
  const pending = () => coreOf(engine).worker.pending();
  const states = async () => (await engine.servers.list(contextOf('p'), { limit: 10 })).map(({ vmState }) => vmState);

  async function usedCapacity() {
    const usage = [...(await usageByHost(coreOf(engine).store)).values()];
    return usage.reduce((sum, { vcpus }) => sum + vcpus, 0);
  }

  it('has a host, its claim and a job when the response is sent', async () => {
    const driver = new SimulatedDriver({ clock: systemClock });
    const machine = driver.addRule({ match: { verb: 'spawn' }, hang: true });
    await start({ driver });
    const context = contextOf('p', { isAdmin: true });
    const { servers } = await engine.servers.create(context, server);
    const [created] = servers;
    expect(created).toMatchObject({ vmState: 'building', taskState: 'block_device_mapping', host: expect.any(String) });
    expect(created?.claims).toMatchObject([{ host: created?.host, vcpus: 1 }]);
    expect(await usedCapacity()).toBe(1);
    expect(await pending()).toBe(1);
    const { events } = await engine.instanceActions.get(idOf(servers), context.requestId);
    expect(events[0]).toMatchObject({
      name: 'conductor_schedule_and_build_instances',
      result: 'Success',
      host: created?.host,
      finishTime: expect.any(Number),
    });
    machine.release();
    await engine.idle();
    const active = await engine.servers.get(context, idOf(servers));
    expect(active).toMatchObject({ vmState: 'active', taskState: null, jobId: null, powerState: 1 });
    expect(active).toMatchObject({ host: created?.host, claims: created?.claims });
    expect(await usedCapacity()).toBe(1);
    expect(await pending()).toBe(0);
  });

  it('is reported to observers of jobs and steps', async () => {
    const jobs: ObservedJob[] = [];
    const steps: ObservedStep[] = [];
    await start({ observer: { job: (job) => jobs.push(job), step: (step) => steps.push(step) } });
    await create();
    await engine.idle();
    const measured = { ms: expect.any(Number), waitedMs: expect.any(Number) };
    expect(jobs).toEqual([{ kind: 'create', outcome: 'done', attempt: 1, ...measured }]);
    expect(steps.map(({ verb, outcome }) => [verb, outcome])).toEqual([
      ['prepare', 'done'],
      ['prepare', 'done'],
      ['spawn', 'done'],
    ]);
  });

  it('has a host even if this process leaves jobs to others', async () => {
    await start({ worker: false });
    expect((await create())[0]).toMatchObject({ vmState: 'building', host: expect.any(String) });
    expect(await usedCapacity()).toBe(1);
    expect(await pending()).toBe(1);
  });

  it('is set to ERROR by its job if no host has capacity', async () => {
    await start();
    await coreOf(engine).store.db.updateTable('nodes').set({ vcpus_used: 64 }).execute();
    const servers = await create();
    expect(servers[0]).toMatchObject({ vmState: 'building', taskState: 'scheduling', host: null });
    await engine.idle();
    expect(await engine.servers.get(contextOf('p', { isAdmin: true }), idOf(servers))).toMatchObject({
      vmState: 'error',
      host: null,
      fault: { message: expect.stringMatching(/No valid host/) },
    });
    expect(await usedCapacity()).toBe(128);
  });

  it('is placed on a host whose capacity exceeds 32 bits', async () => {
    const hosts = [{ name: 'large', vcpus: 2 ** 31, memoryMb: 2 ** 40, diskGb: 2 ** 40, ramAllocationRatio: 1.5 }];
    await start({ preset: { ...defaultPreset, hosts } });
    const alone = await create();
    const several = await create(2);
    await engine.idle();
    expect([...alone, ...several]).toHaveLength(3);
    expect(await states()).toEqual(Array(3).fill('active'));
    expect(await usedCapacity()).toBe(3);
  });

  it('gets its host from its job if several servers are requested', async () => {
    await start();
    const servers = await create(3);
    expect(servers.map(({ taskState, host }) => [taskState, host])).toEqual(Array(3).fill(['scheduling', null]));
    await engine.idle();
    expect(await states()).toEqual(Array(3).fill('active'));
    expect(await usedCapacity()).toBe(3);
  });
});
