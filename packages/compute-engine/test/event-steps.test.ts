import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { contextOf } from '../src/core/context.js';
import { type Rule, SimulatedDriver } from '../src/drivers/index.js';
import type { Notification } from '../src/events/index.js';
import { createEngine, type Engine } from '../src/index.js';
import { storesUnderTest } from './stores-under-test.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const admin = contextOf({ userId: 'root', projectId: 'demo', roles: ['admin'], isAdmin: true }, 'req-root');
const newServer = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' } as const;
const data = ({ payload }: Notification) => payload['nova_object.data'] as Record<string, any>;

describe.each(storesUnderTest(inject('postgresUrl')))('notifications of steps, on $kind', ({ database }) => {
  const engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
  });

  async function cloud({ latencyMs = 0, rules = [] }: { latencyMs?: number; rules?: readonly Rule[] } = {}) {
    const driver = (clock: Engine['clock']) => new SimulatedDriver({ clock, latencyMs, rules });
    const engine = await createEngine({ database: await database(), driver });
    engines.push(engine);
    const received: Notification[] = [];
    engine.on('*', (event) => received.push(event));
    const { servers } = await engine.servers.create(admin, newServer);
    await engine.idle();
    const id = servers[0]!.id;
    /** Returns the types of notifications, without state changes. */
    const eventsDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
      received.length = 0;
      await work();
      await engine.idle();
      return received.flatMap(({ event_type: type }) =>
        type === 'instance.update' ? [] : type.replace('instance.', ''),
      );
    };
    return { engine, received, id, eventsDuring };
  }

  it.each([
    { latencyMs: 0, machine: 'immediately' },
    { latencyMs: 1, machine: 'with latency' },
  ])('are those of the original, in the same order, if the machine responds $machine', async ({ latencyMs }) => {
    const { engine, received, id, eventsDuring } = await cloud({ latencyMs });
    const act = (name: string, request?: unknown) => () => (engine.servers.act as any)(admin, id, name, request);

    expect(await eventsDuring(act('resize', { flavorId: '2' }))).toEqual([
      'resize_prep.start',
      'resize_prep.end',
      'resize.start',
      'resize.end',
      'resize_finish.start',
      'resize_finish.end',
    ]);
    const prepared = received.find(({ event_type }) => event_type === 'instance.resize_prep.start')!;
    expect(prepared.payload).toMatchObject({
      'nova_object.name': 'InstanceActionResizePrepPayload',
      'nova_object.version': '1.4',
    });
    expect(data(prepared).flavor['nova_object.data'].flavorid).toBe('1');
    expect(data(prepared).new_flavor['nova_object.data'].flavorid).toBe('2');
    const finished = received.find(({ event_type }) => event_type === 'instance.resize_finish.end')!;
    expect(data(finished)).toMatchObject({ state: 'resized', task_state: null });
    // Each notification names the host on which its step is executed.
    expect(data(finished).host).not.toBe(data(prepared).host);
    expect(await eventsDuring(act('revertResize'))).toEqual(['resize_revert.start', 'resize_revert.end']);

    await eventsDuring(act('migrate', {}));
    expect(await eventsDuring(act('confirmResize'))).toEqual(['resize_confirm.start', 'resize_confirm.end']);

    expect(await eventsDuring(act('os-migrateLive', { checkedFirst: false }))).toEqual([
      'live_migration_pre.start',
      'live_migration_pre.end',
      'live_migration_post.start',
      'live_migration_post_dest.start',
      'live_migration_post_dest.end',
      'live_migration_post.end',
    ]);
    const left = received.find(({ event_type }) => event_type === 'instance.live_migration_post.start')!;
    const arrived = received.find(({ event_type }) => event_type === 'instance.live_migration_post_dest.end')!;
    expect(data(arrived).host).not.toBe(data(left).host);

    expect(await eventsDuring(act('os-stop'))).toEqual(['power_off.start', 'power_off.end']);
    expect(await eventsDuring(act('os-start'))).toEqual(['power_on.start', 'power_on.end']);
    expect(await eventsDuring(act('createImage', { name: 'copy', limitMetadata: false }))).toEqual([
      'snapshot.start',
      'snapshot.end',
    ]);
    expect(data(received.at(-1)!).snapshot_image_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await eventsDuring(act('rebuild', { imageId: IMAGE, mayReimage: false }))).toEqual([
      'rebuild_scheduled',
      'rebuild.start',
      'rebuild.end',
    ]);
    expect(await eventsDuring(act('shelve'))).toEqual([
      'shelve.start',
      'shelve.end',
      'shelve_offload.start',
      'shelve_offload.end',
    ]);
    expect(await eventsDuring(act('unshelve', {}))).toEqual(['unshelve.start', 'unshelve.end']);

    expect(await eventsDuring(() => engine.servers.lock(admin, id, 'why'))).toEqual(['lock']);
    expect(data(received.at(-1)!)).toMatchObject({ locked: true, locked_reason: 'why' });
    expect(await eventsDuring(() => engine.servers.unlock(admin, id))).toEqual(['unlock']);

    const { id: volumeId } = await engine.embedded.volumes.createVolume(admin.caller, { key: randomUUID(), sizeGb: 1 });
    const attachment = { volumeId, allowShelved: false, multiattach: false };
    expect(await eventsDuring(act('attachVolume', attachment))).toEqual(['volume_attach.start', 'volume_attach.end']);
    expect(data(received.at(-1)!).volume_id).toBe(volumeId);
    expect(await eventsDuring(act('detachVolume', { volumeId }))).toEqual(['volume_detach.start', 'volume_detach.end']);

    expect(await eventsDuring(() => engine.servers.delete(admin, id))).toEqual([
      'delete.start',
      'shutdown.start',
      'shutdown.end',
      'delete.end',
    ]);
    expect(data(received.at(-1)!)).toMatchObject({ state: 'deleted', task_state: null });
  });

  it('start when the work starts, not when it is accepted', async () => {
    const { engine, received, id } = await cloud({ latencyMs: 1 });
    const waiting = await createEngine({ database: await database(), worker: false });
    engines.push(waiting);
    const accepted: string[] = [];
    waiting.on('*', ({ event_type }) => accepted.push(event_type));
    await waiting.servers.create(admin, newServer);
    expect(accepted).toEqual(['instance.update']);

    received.length = 0;
    await engine.servers.act(admin, id, 'os-stop');
    await engine.idle();
    // The task state is set before the response. The start notification is sent later, before the command.
    const types = received.map((event) => [event.event_type, data(event).state, data(event).task_state]);
    expect(types).toEqual([
      ['instance.update', 'active', 'powering-off'],
      ['instance.power_off.start', 'active', 'powering-off'],
      ['instance.update', 'stopped', null],
      ['instance.power_off.end', 'stopped', null],
    ]);
  });

  it('include the step that failed, and the rollback', async () => {
    const fail = 'no luck';
    const { engine, received, id, eventsDuring } = await cloud({
      rules: [
        { match: { verb: 'live_migration_run' }, fail },
        { match: { verb: 'finish_migration' }, fail },
      ],
    });
    const migrate = () => engine.servers.act(admin, id, 'os-migrateLive', { checkedFirst: false });
    expect(await eventsDuring(migrate)).toEqual([
      'live_migration_pre.start',
      'live_migration_pre.end',
      'live_migration_rollback.start',
      'live_migration_rollback.end',
    ]);
    expect(await eventsDuring(() => engine.servers.act(admin, id, 'resize', { flavorId: '2' }))).toEqual([
      'resize_prep.start',
      'resize_prep.end',
      'resize.start',
      'resize.end',
      'resize_finish.start',
      'resize.error',
    ]);
    const error = received.find(({ event_type }) => event_type === 'instance.resize.error')!;
    expect(data(error).fault['nova_object.data'].exception_message).toBe(fail);
  });

  it('include the abort and the rollback of an aborted migration', async () => {
    const { engine, received, id, eventsDuring } = await cloud({
      latencyMs: 1,
      rules: [{ match: { verb: 'live_migration_run' }, hang: true }],
    });
    const reached = () => received.some(({ event_type }) => event_type === 'instance.live_migration_pre.end');
    const work = async () => {
      await engine.servers.act(admin, id, 'os-migrateLive', { checkedFirst: false });
      await eventually(() => expect(reached()).toBe(true), { interval: 5 });
      const [migration] = await engine.migrations.inProgress(await engine.servers.get(admin, id));
      const abortion = { migrationNumber: String(migration!.seq), statuses: ['running'] as const };
      await engine.servers.act(admin, id, 'live_migration_cancel', abortion);
    };
    expect(await eventsDuring(work)).toEqual([
      'live_migration_pre.start',
      'live_migration_pre.end',
      'live_migration_abort.start',
      'live_migration_abort.end',
      'live_migration_rollback.start',
      'live_migration_rollback.end',
    ]);
  });
});
