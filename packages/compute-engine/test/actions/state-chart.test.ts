import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { stateChart } from '../../../../scripts/diagrams/state-chart.mjs';
import { defaultSettings } from '../../src/core/settings.js';
import type { Engine } from '../../src/engine/engine.js';
import { coreOf } from '../../src/engine/engine-core.js';
import { Rejection } from '../../src/errors/rejection.js';
import type { Server, VmState } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import type { Random } from '../model/random.js';
import { hosts, requests, type WalkedName } from '../model/requests.js';

/** The order of the states in the chart. The test fails if a state is missing here. */
const STATES: readonly VmState[] = [
  'building',
  'active',
  'stopped',
  'paused',
  'suspended',
  'rescued',
  'resized',
  'shelved',
  'shelved_offloaded',
  'error',
  'soft-delete',
  'deleted',
];

/** An action with which administrators can set any state. The chart omits it. In this test, it leads to `error`. */
const ANY_STATE: WalkedName = 'os-resetState';

const names = Object.keys(requests) as WalkedName[];
const context = contextOf('p1', { isAdmin: true });

/** Unlimited quotas, because each step needs a separate server. */
const unlimited = { ...defaultSettings.quotas, instances: -1, cores: -1, ram: -1 };
const large = { vcpus: 10_000, memoryMb: 10_000_000, diskGb: 1_000_000 };

/** Always makes the same choices: a different flavor, and no particular host. */
const random: Random = {
  next: () => 0,
  below: () => 0,
  chance: () => false,
  pick: (items) => items.at(-1) as (typeof items)[number],
};

interface Move {
  readonly action: string;
  readonly from: VmState;
  readonly to: VmState;
}

describe('the chart of states', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineUnderTest({
      database: ':memory:',
      preset: { ...defaultPreset, hosts: hosts.map((name) => ({ name, ...large })) },
      settings: { reclaimSeconds: 3600, shelvedOffloadSeconds: 3600, quotas: unlimited },
    });
  });
  afterAll(() => engine.close());

  const read = async (id: string) => (await tables.servers.get(coreOf(engine).store, id)) as Server;

  async function boot(): Promise<Server> {
    const newServer = { name: 'web', flavorId: '1', imageId, networks: 'none' } as const;
    const { servers } = await engine.servers.create(context, newServer);
    return servers[0] as Server;
  }

  /** Starts an action on a server and waits for its end. */
  async function perform(action: WalkedName, id: string): Promise<Server> {
    const { host } = await read(id);
    const isEvacuated = action === 'evacuate' && host !== null;
    const { service } = isEvacuated ? await engine.services.on(host, 'nova-compute') : { service: undefined };
    if (service) await engine.services.update(service.id, { forcedDown: true });
    try {
      await requests[action]({ engine, context, id, random });
      await engine.idle();
      return await read(id);
    } finally {
      if (service) {
        await engine.services.heartbeat(service.host, 'nova-compute', { started: true });
        await engine.services.update(service.id, { forcedDown: false });
      }
    }
  }

  /** Creates a server, performs actions on it, and returns it. */
  async function serverAfter(path: readonly WalkedName[]): Promise<Server> {
    const { id } = await boot();
    await engine.idle();
    for (const action of path) await perform(action, id);
    return read(id);
  }

  /** Performs each action in every state that other actions lead to, and returns the changes of the state. */
  async function observedMoves(): Promise<readonly Move[]> {
    const moves: Move[] = [];
    const paths = new Map<VmState, readonly WalkedName[]>();
    const open: (readonly WalkedName[])[] = [[]];
    for (let path = open.shift(); path; path = open.shift()) {
      const { vmState: from } = await serverAfter(path);
      if (paths.has(from)) continue;
      paths.set(from, path);
      for (const action of names) {
        const { id } = await serverAfter(path);
        const after = await perform(action, id).catch((error) => {
          if (error instanceof Rejection) return undefined;
          throw error;
        });
        if (!after) continue;
        moves.push({ action, from, to: after.vmState });
        open.push([...path, action]);
      }
    }
    return moves;
  }

  it('shows the changes of states that the engine performs', async () => {
    const { vmState: from, id } = await boot();
    await engine.idle();
    const created: Move = { action: 'create', from, to: (await read(id)).vmState };
    const moves = [created, ...(await observedMoves())].filter(({ action }) => action !== ANY_STATE);
    const states = new Set(moves.flatMap(({ from, to }) => [from, to]));
    expect([...states].sort()).toEqual([...STATES].sort());
    const actions = ['create', ...names]
      .map((name) => ({ name, moves: moves.filter(({ action }) => action === name) }))
      .filter((action) => action.moves.some(({ from, to }) => from !== to));
    await expect(stateChart(STATES, actions)).toMatchFileSnapshot('../../../../docs/images/server-states.svg');
  });
});
