import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compoundKey } from '@apistrata/record-store';
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { rulesOf } from '../../src/actions/action-table.js';
import { checkAction } from '../../src/actions/runner/check-action.js';
import { systemClock } from '../../src/clock/clock.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { Rejection } from '../../src/errors/rejection.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import { contextOf, imageId } from '../engine-under-test.js';
import { type AttachmentName, attachmentNames, changeAttachments } from '../model/attachments.js';
import { checkInvariants } from '../model/invariants.js';
import { type Random, randomOf } from '../model/random.js';
import { type FailureRates, RandomFailureDriver } from '../model/random-failure-driver.js';
import { hosts, nextAction, requests, type WalkedName } from '../model/requests.js';

const preset = {
  ...defaultPreset,
  hosts: hosts.map((name) => ({ name, vcpus: 10_000, memoryMb: 10_000_000, diskGb: 1_000_000 })),
};
const quotas = { instances: -1, cores: -1, ram: -1 } as never;

/** An accepted request, which must be in the history. */
interface Accepted {
  readonly serverId: string;
  readonly requestId: string;
  readonly action: WalkedName | AttachmentName;
}

class Walk {
  readonly random: Random;
  readonly drivers: RandomFailureDriver[] = [];
  readonly accepted: Accepted[] = [];
  readonly failures: unknown[] = [];
  readonly volumeIds: string[] = [];
  /** Engines that share one database, as separate processes would. */
  engines: Engine[] = [];

  constructor(
    readonly seed: number,
    readonly database: string,
    engineCount: number,
    failureRates: FailureRates,
  ) {
    this.random = randomOf(seed);
    for (let i = 1; i <= engineCount; i++)
      this.drivers.push(new RandomFailureDriver(systemClock, randomOf(seed + i), failureRates));
  }

  get engine(): Engine {
    return this.random.pick(this.engines);
  }

  async open(): Promise<void> {
    this.engines = [];
    for (const driver of this.drivers) this.engines.push(await this.#createEngine(driver));
  }

  #createEngine(driver: RandomFailureDriver): Promise<Engine> {
    return createEngine({
      database: this.database,
      preset,
      driver,
      settings: { quotas, reclaimSeconds: 3600, shelvedOffloadSeconds: this.seed % 2 ? 0 : 3600 },
      // Here, processes are restarted, but the computer never loses power.
      durability: 'process',
      worker: { pollMs: 50 },
      onError: (error) => this.failures.push(error),
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.close()));
  }

  /** Closes one of the engines, while the others continue, and opens it again. */
  async reopenOne(): Promise<void> {
    const index = this.random.below(this.engines.length);
    await this.engines[index]!.close();
    this.engines[index] = await this.#createEngine(this.drivers[index]!);
  }

  /** Waits until no engine has a job. */
  async idle(): Promise<void> {
    for (const engine of this.engines) await engine.idle();
    await eventually(async () => expect(await coreOf(this.engines[0]!).worker.pending()).toBe(0), { timeout: 60_000 });
  }

  async boot(count: number): Promise<readonly string[]> {
    const newServer = { name: 'walker', flavorId: '1', imageId, minCount: count } as const;
    const { servers } = await this.engine.servers.create(contextOf('p1', { isAdmin: true }), {
      ...newServer,
      networks: 'auto',
    });
    for (let i = 0; i < count / 2; i++) {
      const volume = { key: `volume-${i}`, sizeGb: 1 };
      this.volumeIds.push((await this.engine.embedded.volumes.createVolume(contextOf('p1').caller, volume)).id);
    }
    return servers.map(({ id }) => id);
  }

  /**
   * Sends one request. Requests that the table of actions forbids must be rejected, and accepted requests must be
   * allowed by the table.
   */
  async step(id: string, settled: boolean): Promise<void> {
    const context = contextOf('p1', { isAdmin: this.random.chance(0.8) });
    const request = { engine: this.engine, context, id, random: this.random };
    if (this.random.chance(0.3)) {
      const attached = await changeAttachments(request, this.volumeIds);
      if (attached) this.accepted.push({ serverId: id, requestId: context.requestId, action: attached });
      return;
    }
    const before = await tables.servers.get(coreOf(this.engine).store, id);
    const action = nextAction(this.random, before!);
    const rejection = (): Rejection | undefined => {
      try {
        checkAction(rulesOf(action), before!, context.isAdmin);
        return undefined;
      } catch (error) {
        return error as Rejection;
      }
    };
    try {
      await requests[action](request);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      const forbidden = settled && !before!.deleted && rejection();
      if (forbidden) expect({ action, rejected: error.message }).toEqual({ action, rejected: forbidden.message });
      return;
    }
    if (settled)
      expect({ action, state: before!.vmState, rejected: rejection()?.message }).toMatchObject({ rejected: undefined });
    if (before!.taskState !== 'deleting' && before!.taskState !== 'soft-deleting')
      this.accepted.push({ serverId: id, requestId: context.requestId, action });
  }

  /** Lets a host fail or return; half of them are always up. */
  async failOrRecoverHost(): Promise<void> {
    const host = this.random.pick(hosts.slice(2));
    const { service } = await this.engine.services.on(host, 'nova-compute');
    if (service.forcedDown) {
      await this.engine.services.heartbeat(host, 'nova-compute', { started: true });
      await this.engine.services.update(service.id, { forcedDown: false }).catch(() => {});
    } else await this.engine.services.update(service.id, { forcedDown: true });
  }

  /** Stops random failures and delays, and waits until no job is left. */
  async settle(): Promise<void> {
    for (const driver of this.drivers) driver.moods = { failures: 0, delays: 0 };
    await this.idle();
  }

  /** Checks that each accepted request is in the history of its server, with completed events. */
  async checkHistory(): Promise<void> {
    for (const { serverId, requestId, action } of this.accepted) {
      const { history } = rulesOf(action);
      if (!history) continue;
      const record = await tables.actions.get(coreOf(this.engine).store, compoundKey(serverId, requestId));
      if (record === undefined && (action === 'lock' || action === 'delete')) continue;
      expect({ action, recorded: record?.action }).toEqual({ action, recorded: history });
      for (const event of record!.events) expect(event.result, `${action} ${event.name}`).not.toBeNull();
    }
  }
}

const walks: Walk[] = [];
const seeds = (process.env.WALK_SEEDS ?? '1,2,3,4,5,6').split(',').map(Number);

interface WalkKind {
  readonly title: string;
  readonly failureRates: FailureRates;
  readonly restarts?: boolean;
  /** Number of engines that share a PostgreSQL database. Default: one, with a SQLite file. */
  readonly engineCount?: number;
  readonly servers: number;
  readonly steps: number;
}

const kinds: readonly WalkKind[] = [
  { title: 'if nothing fails', failureRates: { failures: 0, delays: 0 }, servers: 100, steps: 12 },
  {
    title: 'if work is slow and requests overlap',
    failureRates: { failures: 0, delays: 0.4 },
    servers: 120,
    steps: 14,
  },
  { title: 'if work fails', failureRates: { failures: 0.12, delays: 0.2 }, servers: 100, steps: 12 },
  {
    title: 'if work fails and the process is restarted',
    failureRates: { failures: 0.08, delays: 0.5 },
    restarts: true,
    servers: 60,
    steps: 14,
  },
];
const sharedKinds: readonly WalkKind[] = [
  {
    title: 'if several engines share a database',
    failureRates: { failures: 0, delays: 0.4 },
    engineCount: 2,
    servers: 40,
    steps: 12,
  },
  {
    title: 'if several engines share a database, work fails, and engines are restarted',
    failureRates: { failures: 0.08, delays: 0.5 },
    restarts: true,
    engineCount: 3,
    servers: 30,
    steps: 12,
  },
];
const postgresUrl = inject('postgresUrl');

describe.each(postgresUrl ? [...kinds, ...sharedKinds] : kinds)('servers with random actions, $title', (kind) => {
  const { failureRates, restarts = false, engineCount = 1, servers, steps } = kind;
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-walk-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let walk: Walk;
  afterEach(() => walk.close());

  it.each(seeds)(
    'never get stuck, and keep quotas, hosts, history and catalogs consistent (seed %i)',
    async (seed) => {
      const database = engineCount > 1 ? await freshDatabase(postgresUrl) : join(folder, `${seed}.db`);
      walk = new Walk(seed, database, engineCount, failureRates);
      walks.push(walk);
      await walk.open();
      const ids = await walk.boot(servers);
      await walk.idle();
      for (let step = 0; step < steps; step++) {
        const settled = failureRates.delays === 0;
        if (settled) await walk.idle();
        if (walk.random.chance(0.4)) await walk.failOrRecoverHost();
        await Promise.all(ids.map((id) => walk.step(id, settled)));
        if (restarts && walk.random.chance(0.5)) await walk.reopenOne();
        if (walk.random.chance(0.5)) await walk.idle();
      }
      await walk.settle();
      expect(walk.failures).toEqual([]);
      await checkInvariants(walk.engine);
      await walk.checkHistory();
    },
    120_000,
  );
});

it('the random walks have accepted every action at least once', () => {
  const counts = new Map<string, number>([...Object.keys(requests), ...attachmentNames].map((name) => [name, 0]));
  for (const { action } of walks.flatMap(({ accepted }) => accepted)) counts.set(action, counts.get(action)! + 1);
  for (const [action, count] of counts) expect(count, action).toBeGreaterThan(0);
});
