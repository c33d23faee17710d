import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { actionsByName } from '../../src/actions/action-table.js';
import { ActionRunner } from '../../src/actions/runner/action-runner.js';
import { systemClock } from '../../src/clock/clock.js';
import type { DriverVerb } from '../../src/drivers/driver.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { type Job, Jobs } from '../../src/jobs/jobs.js';
import { Payloads } from '../../src/jobs/payloads.js';
import { LeaseLost } from '../../src/jobs/worker.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { COMPUTE_BINARY } from '../../src/scheduler/infrastructure.js';
import { tables } from '../../src/schema/tables.js';
import { createSealer } from '../../src/secrets/sealer-for.js';
import { contextOf, imageId } from '../engine-under-test.js';
import { checkInvariants } from '../model/invariants.js';
import { storesUnderTest } from '../stores-under-test.js';

const admin = () => contextOf('p1', { isAdmin: true });

interface TestedOperation {
  readonly name: string;
  /** The command during which the earlier attempt wakes up. */
  readonly pausedVerb: DriverVerb;
  /** Brings a server into the state in which the operation begins. */
  readonly before?: (engine: Engine, id: string) => Promise<void>;
  readonly begin: (engine: Engine, id: string) => Promise<unknown>;
  readonly vmState: string;
}

const operations: readonly TestedOperation[] = [
  {
    name: 'resize',
    pausedVerb: 'migrate_disk',
    begin: ({ servers }, id) => servers.act(admin(), id, 'resize', { flavorId: '2' }),
    vmState: 'resized',
  },
  {
    name: 'migrate',
    pausedVerb: 'migrate_disk',
    begin: ({ servers }, id) => servers.act(admin(), id, 'migrate', {}),
    vmState: 'resized',
  },
  {
    name: 'os-migrateLive',
    pausedVerb: 'live_migration_run',
    begin: ({ servers }, id) => servers.act(admin(), id, 'os-migrateLive', { checkedFirst: false }),
    vmState: 'active',
  },
  {
    name: 'unshelve',
    pausedVerb: 'unshelve',
    async before(engine, id) {
      await engine.servers.act(admin(), id, 'shelve');
      await engine.idle();
    },
    begin: ({ servers }, id) => servers.act(admin(), id, 'unshelve', {}),
    vmState: 'active',
  },
  {
    name: 'evacuate',
    pausedVerb: 'evacuate',
    async before(engine, id) {
      const { host } = await engine.servers.get(admin(), id);
      const [down] = await engine.services.list({ host: host!, binary: COMPUTE_BINARY });
      await engine.services.update(down!.service.id, { forcedDown: true });
    },
    begin: ({ servers }, id) => servers.act(admin(), id, 'evacuate', { stop: false }),
    vmState: 'active',
  },
];

describe.each(storesUnderTest(inject('postgresUrl')))('a later attempt of a job, on $kind,', ({ open }) => {
  let engine: Engine;
  let driver: SimulatedDriver;
  let runner: ActionRunner;
  let url: string;
  let folder: string;
  beforeEach(async () => {
    const opened = await open();
    await opened.store.close();
    folder = await mkdtemp(join(tmpdir(), 'apistrata-attempts-'));
    url = opened.url === ':memory:' ? join(folder, 'engine.db') : opened.url;
    driver = new SimulatedDriver({ clock: systemClock });
  });
  afterEach(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });

  /** @param executesJobs whether the engine executes jobs; if false, the test executes them */
  async function start(executesJobs: boolean): Promise<void> {
    engine = await engineOf(executesJobs);
    runner = new ActionRunner(() => coreOf(engine), actionsByName, new Map());
  }

  async function engineOf(executesJobs: boolean): Promise<Engine> {
    const hosts = ['h1', 'h2', 'h3'].map((name) => ({ name, vcpus: 8, memoryMb: 16_384, diskGb: 200 }));
    return createEngine({
      database: url,
      driver,
      preset: { ...defaultPreset, hosts },
      worker: executesJobs && { pollMs: 10 },
    });
  }

  const create = async () => {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    return (await engine.servers.create(admin(), newServer)).servers[0]!.id;
  };
  const server = (id: string) => engine.servers.get(admin(), id);

  /** Claims the job of a server, as a worker does after the lease of the job has expired. */
  async function nextAttempt(id: string): Promise<Job> {
    const jobs = new Jobs(coreOf(engine).store, new Payloads(await createSealer(url, {}), { keepTokens: false }));
    const [job, ...others] = await jobs.claim({ owner: randomUUID(), until: 0 }, 10);
    expect([job?.serverId, others]).toEqual([id, []]);
    return job!;
  }

  /** Starts an attempt that waits before it reads the hosts. Returns a function that lets it continue. */
  function pausedAttempt(job: Job) {
    const { infrastructure } = coreOf(engine);
    const hosts = infrastructure.hosts.bind(infrastructure);
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const waits = new Promise<void>((resolve) => {
      infrastructure.hosts = async () => {
        infrastructure.hosts = hosts;
        resolve();
        await woken;
        return hosts();
      };
    });
    const outcome = runner.run(job, new AbortController().signal).catch((error) => error);
    return { waits: Promise.race([waits, outcome]), wake, outcome };
  }

  async function runLaterAttempt(id: string, pausedVerb: DriverVerb): Promise<void> {
    const first = pausedAttempt(await nextAttempt(id));
    await first.waits;
    const rule = driver.addRule({ match: { verb: pausedVerb }, hang: true });
    const second = runner.run(await nextAttempt(id), new AbortController().signal);
    await Promise.race([second, expect.poll(() => rule.calls).toBe(1)]);
    const meanwhile = await server(id);
    first.wake();
    expect(await first.outcome).toBeInstanceOf(LeaseLost);
    expect(await server(id)).toEqual(meanwhile);
    rule.release();
    expect(await second).toBe('done');
  }

  const forget = async () => {
    await coreOf(engine).store.db.deleteFrom('jobs').execute();
  };

  it('is the only one that places a new server for which no host had capacity during its request', async () => {
    await start(false);
    const used = (vcpus: number) => coreOf(engine).store.db.updateTable('nodes').set({ vcpus_used: vcpus }).execute();
    await used(1000);
    const id = await create();
    expect((await server(id)).host).toBeNull();
    await used(0);
    await runLaterAttempt(id, 'spawn');
    await forget();
    expect(await server(id)).toMatchObject({ vmState: 'active', taskState: null, fault: null });
    await checkInvariants(engine);
  });

  it.each(operations)(
    'is the only one that claims capacity for $name',
    async ({ pausedVerb, before, begin, vmState }) => {
      await start(true);
      const id = await create();
      await engine.idle();
      await before?.(engine, id);
      await engine.close();
      await start(false);
      await begin(engine, id);
      await runLaterAttempt(id, pausedVerb);
      await forget();
      expect(await server(id)).toMatchObject({ vmState, taskState: null, fault: null });
      await checkInvariants(engine);
    },
  );

  it('fences an attempt that fails afterwards', async () => {
    await start(false);
    const id = await create();
    const failing = driver.addRule({ match: { verb: 'spawn' }, hang: true, fail: 'the host failed', times: 1 });
    const first = runner.run(await nextAttempt(id), new AbortController().signal).catch((error) => error);
    await expect.poll(() => failing.calls).toBe(1);
    const second = runner.run(await nextAttempt(id), new AbortController().signal);
    expect(await second).toBe('done');
    failing.release();
    expect(await first).toBeInstanceOf(LeaseLost);
    await forget();
    expect(await server(id)).toMatchObject({ vmState: 'active', taskState: null, fault: null });
    const history = await coreOf(engine).store.transaction((tx) => tables.actions.find(tx));
    expect(history.map(({ message }) => message)).toEqual([null]);
    await checkInvariants(engine);
  });
});
