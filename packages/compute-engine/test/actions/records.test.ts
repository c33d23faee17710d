import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { actions, actionsByName, cleanupsByKind } from '../../src/actions/action-table.js';
import { immediateActions } from '../../src/actions/immediate.js';
import { type AnyAction, action } from '../../src/actions/runner/action.js';
import type { Engine } from '../../src/engine/engine.js';
import { contextOf, engineUnderTest, imageId } from '../engine-under-test.js';
import { storesUnderTest } from '../stores-under-test.js';

/** Kinds of jobs that databases of released versions may contain. Never remove one from this list. */
const STORED_KINDS = [
  'attachInterface',
  'attachShare',
  'attachVolume',
  'changePassword',
  'confirmResize',
  'create',
  'createBackup',
  'createImage',
  'delete',
  'detachInterface',
  'detachShare',
  'detachVolume',
  'evacuate',
  'extendVolume',
  'followPower',
  'forceDelete',
  'injectNetworkInfo',
  'live_migration_cancel',
  'live_migration_force_complete',
  'migrate',
  'os-migrateLive',
  'os-resetState',
  'os-start',
  'os-stop',
  'pause',
  'rebootHard',
  'rebootSoft',
  'rebuild',
  'rescue',
  'resize',
  'restore',
  'resume',
  'revertResize',
  'shelve',
  'shelveOffload',
  'softDelete',
  'suspend',
  'swapVolume',
  'trigger_crash_dump',
  'unfinishedCreate',
  'unpause',
  'unrescue',
  'unshelve',
];

describe('the records of actions', () => {
  it('have unique names', () => {
    const names = [...actions, ...immediateActions].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('include every kind of job that a database may contain', () => {
    expect([...actionsByName.keys(), ...cleanupsByKind.keys()]).toEqual(expect.arrayContaining(STORED_KINDS));
  });

  it('all appear in the list of kinds, so that later versions cannot drop one', () => {
    expect([...actionsByName.keys(), ...cleanupsByKind.keys()].sort()).toEqual(STORED_KINDS);
  });
});

const rest = action({
  name: 'rest',
  vmStates: ['active'],
  lock: true,
  during: ['pausing'],
  history: 'rest',
  notifies: 'rest',
  onFailure: 'unchanged',
  begin: async (_scope, { seconds }: { readonly seconds: number }) => ({
    arguments: { seconds },
    change: () => ({ description: `rests for ${seconds} s` }),
    result: ({ description }) => description,
  }),
  run: async (run) => run.finish({ description: `rested for ${run.arguments.seconds} s` }),
});

describe.each(storesUnderTest(inject('postgresUrl')))('an additional action, on $kind,', ({ database }) => {
  let engine: Engine;
  afterEach(() => engine.close());

  async function start(url: string, own: boolean, worker?: false): Promise<void> {
    engine = await engineUnderTest({
      database: url,
      ...(own && { actions: [rest] }),
      ...(worker === false && { worker }),
    });
  }

  it('starts, runs and ends like those of the API, across processes', async () => {
    const url = await database();
    await start(url, true);
    const { servers } = await engine.servers.create(contextOf('p1'), {
      name: 'web',
      flavorId: '1',
      imageId,
      networks: 'none',
    });
    const id = servers[0]?.id ?? randomUUID();
    await engine.idle();
    const notified: string[] = [];
    engine.on('*', ({ event_type: type }) => notified.push(type));
    expect(await engine.servers.act(contextOf('p1'), id, rest, { seconds: 3 })).toBe('rests for 3 s');
    await engine.idle();
    expect(notified.filter((type) => type !== 'instance.update')).toEqual(['instance.rest.start', 'instance.rest.end']);
    const server = await engine.servers.get(contextOf('p1'), id);
    expect(server).toMatchObject({ taskState: null, description: 'rested for 3 s' });
    expect((await engine.instanceActions.list(id)).map(({ action: name }) => name)).toEqual(['rest', 'create']);
    await expect(engine.servers.act(contextOf('p2'), id, rest, { seconds: 3 })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a record', () => {
  it('defines the notifications of the action', () => {
    const { notifies, ...silent } = rest;
    // @ts-expect-error: without `notifies` nothing would announce the action, and no test would fail
    const record: AnyAction = silent;
    expect([notifies, record.notifies]).toEqual(['rest', undefined]);
  });
});

describe('createEngine({ actions })', () => {
  it('rejects the name of an action of the API', async () => {
    await expect(engineUnderTest({ actions: [{ ...rest, name: 'pause' }] })).rejects.toThrow(
      'createEngine(): the action "pause" already exists',
    );
  });
});
