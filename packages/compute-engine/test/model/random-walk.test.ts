import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compoundKey } from '@apistrata/record-store';
import { afterEach, describe, expect, it } from 'vitest';
import { rulesOf } from '../../src/actions/action-table.js';
import { checkAction } from '../../src/actions/runner/check-action.js';
import { systemClock } from '../../src/clock/clock.js';
import { createEngine } from '../../src/engine/create-engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { Refusal } from '../../src/errors/refusal.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import { contextOf, imageId } from '../engine-under-test.js';
import { checkInvariants } from './invariants.js';
import { type Moods, MoodyDriver } from './moody-driver.js';
import { type Random, randomOf } from './random.js';
import { hosts, nextAction, requests, type WalkedName } from './requests.js';

const preset = {
  ...defaultPreset,
  hosts: hosts.map((name) => ({ name, vcpus: 10_000, memoryMb: 10_000_000, diskGb: 1_000_000 })),
};
const quotas = { instances: -1, cores: -1, ram: -1 } as never;

/** What was accepted, and must therefore be in the history. */
interface Accepted {
  readonly serverId: string;
  readonly requestId: string;
  readonly action: WalkedName;
}

class Walk {
  readonly random: Random;
  readonly file: string;
  readonly driver: MoodyDriver;
  readonly accepted: Accepted[] = [];
  readonly failures: unknown[] = [];
  engine!: Engine;

  constructor(
    readonly seed: number,
    moods: Moods,
  ) {
    this.random = randomOf(seed);
    this.file = join(mkdtempSync(join(tmpdir(), 'apistrata-walk-')), 'cloud.db');
    this.driver = new MoodyDriver(systemClock, randomOf(seed + 1), moods);
  }

  async open(): Promise<void> {
    this.engine = await createEngine({
      database: this.file,
      preset,
      driver: this.driver,
      settings: { quotas, reclaimSeconds: 3600, shelvedOffloadSeconds: this.seed % 2 ? 0 : 3600 },
      // Processes are started again here; no machine loses its power.
      durability: 'process',
      onError: (error) => this.failures.push(error),
    });
  }

  async reopen(): Promise<void> {
    await this.engine.close();
    await this.open();
  }

  async close(): Promise<void> {
    await this.engine?.close();
    rmSync(join(this.file, '..'), { recursive: true, force: true });
  }

  async boot(count: number): Promise<readonly string[]> {
    const wanted = { name: 'walker', flavorId: '1', imageId, minCount: count } as const;
    const { servers } = await this.engine.servers.create(contextOf('p1', { isAdmin: true }), {
      ...wanted,
      networks: 'auto',
    });
    return servers.map(({ id }) => id);
  }

  /** One request. What the table forbids must be refused; what is accepted must be allowed by the table. */
  async step(id: string, settled: boolean): Promise<void> {
    const context = contextOf('p1', { isAdmin: this.random.chance(0.8) });
    const before = await tables.servers.get(coreOf(this.engine).store, id);
    const action = nextAction(this.random, before!);
    const refusal = (): Refusal | undefined => {
      try {
        checkAction(rulesOf(action), before!, context.isAdmin);
        return undefined;
      } catch (error) {
        return error as Refusal;
      }
    };
    try {
      await requests[action]({ engine: this.engine, context, id, random: this.random });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const forbidden = settled && !before!.deleted && refusal();
      if (forbidden) expect({ action, refused: error.message }).toEqual({ action, refused: forbidden.message });
      return;
    }
    if (settled)
      expect({ action, state: before!.vmState, refused: refusal()?.message }).toMatchObject({ refused: undefined });
    if (before!.taskState !== 'deleting' && before!.taskState !== 'soft-deleting')
      this.accepted.push({ serverId: id, requestId: context.requestId, action });
  }

  /** A host fails or comes back; half of them are always up. */
  async shake(): Promise<void> {
    const host = this.random.pick(hosts.slice(2));
    const { service } = await this.engine.services.on(host, 'nova-compute');
    if (service.forcedDown) {
      await this.engine.services.heartbeat(host, 'nova-compute', { started: true });
      await this.engine.services.update(service.id, { forcedDown: false }).catch(() => {});
    } else await this.engine.services.update(service.id, { forcedDown: true });
  }

  /** Until nothing is left to do; nothing fails any more from here on. */
  async settle(): Promise<void> {
    this.driver.moods = { failures: 0, delays: 0 };
    await this.engine.idle();
  }

  /** Each accepted request is in the history of its server, with steps that have all ended. */
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

const kinds = [
  { title: 'when all goes well', moods: { failures: 0, delays: 0 }, restarts: false, servers: 100, steps: 12 },
  {
    title: 'when work takes its time and requests overlap',
    moods: { failures: 0, delays: 0.4 },
    restarts: false,
    servers: 120,
    steps: 14,
  },
  { title: 'when work fails', moods: { failures: 0.12, delays: 0.2 }, restarts: false, servers: 100, steps: 12 },
  {
    title: 'when work fails and the process is restarted',
    moods: { failures: 0.08, delays: 0.5 },
    restarts: true,
    servers: 60,
    steps: 14,
  },
];

describe.each(kinds)('servers that are acted on at random, $title', ({ moods, restarts, servers, steps }) => {
  let walk: Walk;
  afterEach(() => walk.close());

  it.each(seeds)(
    'never get stuck, and keep quotas, hosts, history and catalogs exact (seed %i)',
    async (seed) => {
      walk = new Walk(seed, moods);
      walks.push(walk);
      await walk.open();
      const ids = await walk.boot(servers);
      await walk.engine.idle();
      for (let step = 0; step < steps; step++) {
        const settled = moods.delays === 0;
        if (settled) await walk.engine.idle();
        if (walk.random.chance(0.4)) await walk.shake();
        await Promise.all(ids.map((id) => walk.step(id, settled)));
        if (restarts && walk.random.chance(0.5)) await walk.reopen();
        if (walk.random.chance(0.5)) await walk.engine.idle();
      }
      await walk.settle();
      expect(walk.failures).toEqual([]);
      await checkInvariants(walk.engine);
      await walk.checkHistory();
    },
    120_000,
  );
});

it('has had every walked action accepted', () => {
  const counts = new Map<string, number>(Object.keys(requests).map((name) => [name, 0]));
  for (const { action } of walks.flatMap(({ accepted }) => accepted)) counts.set(action, counts.get(action)! + 1);
  for (const [action, count] of counts) expect(count, action).toBeGreaterThan(0);
});
