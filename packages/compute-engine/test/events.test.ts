import type { Session } from '@apistrata/record-store';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { contextOf } from '../src/core/context.js';
import { SimulatedDriver } from '../src/drivers/index.js';
import { type Notification, type StoredEvent, signatureOf } from '../src/events/index.js';
import { createEngine, type Engine, type EngineOptions } from '../src/index.js';
import { coreOf } from '../src/testing/index.js';
import { storesUnderTest } from './stores-under-test.js';
import { receiveEvents, type WebhookReceiver } from './webhook-receiver.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const SECRET = 'a secret of more than twenty-four characters';
const ada = contextOf({ userId: 'ada', projectId: 'demo', roles: ['member'] }, 'req-ada');
const newServer = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' } as const;
const data = ({ payload }: Notification) => payload['nova_object.data'] as Record<string, any>;

describe.each(storesUnderTest(inject('postgresUrl')))('events, on $kind', ({ database }) => {
  const engines: Engine[] = [];
  const receivers: WebhookReceiver[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    for (const server of receivers.splice(0)) server.close();
  });

  async function open(options: EngineOptions): Promise<Engine> {
    const engine = await createEngine({ database: await database(), ...options });
    engines.push(engine);
    return engine;
  }

  async function receiver(response: Parameters<typeof receiveEvents>[0]): Promise<string> {
    const server = await receiveEvents(response);
    receivers.push(server);
    return server.url;
  }

  const create = async (engine: Engine, name = 'web') => {
    const { servers: created } = await engine.servers.create(ada, { ...newServer, name });
    await engine.idle();
    return created[0]!.id;
  };

  it('are passed to listeners of this process, with the format and names of the original', async () => {
    const engine = await open({});
    const received: Notification[] = [];
    const end = engine.on('*', (event) => received.push(event));
    const id = await create(engine);
    await engine.servers.act(ada, id, 'os-stop');
    await engine.idle();
    const types = received.map(({ event_type }) => event_type).filter((type) => type !== 'instance.update');
    expect(types).toEqual([
      'instance.create.start',
      'instance.create.end',
      'instance.power_off.start',
      'instance.power_off.end',
    ]);
    const created = received.find(({ event_type }) => event_type === 'instance.create.end')!;
    expect(created).toMatchObject({
      priority: 'INFO',
      publisher_id: expect.stringMatching(/^nova-compute:host/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/),
      payload: { 'nova_object.name': 'InstanceCreatePayload', 'nova_object.namespace': 'nova' },
    });
    expect(data(created)).toMatchObject({
      uuid: id,
      tenant_id: 'demo',
      state: 'active',
      task_state: null,
      power_state: 'running',
      request_id: 'req-ada',
      action_initiator_user: 'ada',
      fault: null,
      flavor: { 'nova_object.name': 'FlavorPayload' },
    });
    const states = received
      .filter(({ event_type }) => event_type === 'instance.update')
      .map((event) => data(event).state_update['nova_object.data']);
    expect(states.at(0)).toMatchObject({ old_state: null, state: 'building' });
    expect(states.at(-1)).toMatchObject({ old_state: 'active', state: 'stopped', new_task_state: null });
    end();
    await engine.servers.act(ada, id, 'os-start');
    await engine.idle();
    expect(received.at(-1)!.event_type).toBe('instance.power_off.end');
  });

  it('report failures with the fault, and repeated quota rejections once per interval', async () => {
    const driver = (clock: Engine['clock']) =>
      new SimulatedDriver({ clock, rules: [{ match: { verb: 'spawn' }, fail: 'out of luck' }] });
    const engine = await open({ driver, settings: { quotas: { instances: 1 } as never } });
    const received: Notification[] = [];
    engine.on('*.error', (event) => received.push(event));
    engine.on('quota.*', (event) => received.push(event));
    await create(engine);
    await expect(create(engine)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(create(engine)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(received.map(({ event_type, priority }) => `${event_type} ${priority}`)).toEqual([
      'instance.create.error ERROR',
      'quota.exceeded ERROR',
    ]);
    expect(data(received[0]!).fault['nova_object.data'].exception_message).toMatch(/out of luck/);
    expect(data(received[1]!)).toEqual({
      tenant_id: 'demo',
      user_id: 'ada',
      exceeded: [{ kind: 'instances', requested: 1, used: 1, limit: 1 }],
    });
  });

  it('cost no statements without the option', async () => {
    const statements: string[] = [];
    const engine = await open({ observer: { statement: ({ name }) => statements.push(name) } });
    statements.length = 0;
    await create(engine);
    expect(statements.filter((name) => name.includes('notification'))).toEqual([]);
    expect(engine.events.isRetained).toBe(false);
  });

  it('are stored in the transaction of their change: a rollback discards them', async () => {
    const engine = await open({ events: {}, worker: false });
    const { store, events } = coreOf(engine);
    const types = async ({ db }: Session = store) =>
      (await db.selectFrom('notifications').select('event_type').orderBy('seq').execute()).map((row) => row.event_type);
    const { servers } = await engine.servers.create(ada, newServer);
    expect(await types()).toEqual(['instance.update']);
    const change = store.transaction(async (tx) => {
      await events.emitState(tx, undefined, servers[0]!, ada);
      expect(await types(tx)).toEqual(['instance.update', 'instance.update']);
      throw new Error('the change failed');
    });
    await expect(change).rejects.toThrow('the change failed');
    expect(await types()).toEqual(['instance.update']);
  });

  it('are read in order from any position, even by readers that wait for more', async () => {
    const engine = await open({ events: {} });
    await create(engine);
    const ending = new AbortController();
    const read: StoredEvent[] = [];
    const reading = (async () => {
      for await (const events of engine.events.read(0, ending.signal)) read.push(...events);
    })();
    const ends = () => read.filter(({ type }) => type === 'instance.create.end').length;
    await eventually(() => expect(ends()).toBe(1));
    await create(engine, 'second');
    await eventually(() => expect(ends()).toBe(2));
    ending.abort();
    await reading;
    expect(read.map(({ position }) => position)).toEqual(read.map((_, index) => index + 1));
    const rest = await engine.events.read(read.length - 1, new AbortController().signal).next();
    expect(rest.value?.map(({ id }: StoredEvent) => id)).toEqual([read.at(-1)!.id]);
  });

  it('are sent to webhooks, signed, until they are accepted, each server in order', async () => {
    const got: Notification[] = [];
    const rejectedOnce = new Set<string>();
    const signatures: boolean[] = [];
    const hook = await receiver((event, req, body) => {
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = req.headers;
      signatures.push(signature === signatureOf(SECRET, String(id), Number(at), body) && id === event.message_id);
      // The first event of each server is rejected once, and no later event of that server may overtake it.
      const server = data(event).uuid;
      if (!rejectedOnce.has(server)) {
        rejectedOnce.add(server);
        return 500;
      }
      got.push(event);
      return 204;
    });
    const errors: unknown[] = [];
    const webhooks = [{ url: hook, secret: SECRET, types: ['instance.*.start', 'instance.*.end'] }];
    const engine = await open({ events: { webhooks }, onError: (error) => errors.push(error) });
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => create(engine, name)));
    for (const id of ids) await engine.servers.act(ada, id, 'os-stop');
    await eventually(() => expect(got).toHaveLength(12));
    for (const id of ids) {
      const types = got.filter((event) => data(event).uuid === id).map(({ event_type }) => event_type);
      expect(types).toEqual([
        'instance.create.start',
        'instance.create.end',
        'instance.power_off.start',
        'instance.power_off.end',
      ]);
    }
    expect(signatures.every(Boolean)).toBe(true);
    expect(new Set(got.map(({ message_id }) => message_id)).size).toBe(12);
    expect(String(errors[0])).toMatch(/the webhook 127\.0\.0\.1:\d+ returned 500 for instance\.create\.start/);
  });

  it('are deleted when they expire, and counted for webhooks that did not accept them', async () => {
    const missed: unknown[] = [];
    const hook = await receiver(() => 500);
    const webhooks = [
      { url: hook, secret: SECRET, types: ['instance.create.*'] },
      { url: hook, secret: SECRET, types: ['nothing.of.this'] },
    ];
    const engine = await open({ events: { webhooks }, onError: () => {} });
    const { store } = coreOf(engine);
    await create(engine);
    const { EngineEvents } = await import('../src/events/engine-events.js');
    const old = Date.now() - 60_000;
    const rows = () => store.db.selectFrom('notifications').select('position').execute();
    await eventually(async () => expect((await rows()).every(({ position }) => position !== null)).toBe(true));
    await store.db.updateTable('notifications').set({ created_at: old }).execute();
    const options = { webhooks, keepMs: 30_000 };
    const dropped = (event: unknown) => missed.push(event);
    const another = new EngineEvents(store, engine.clock, options, () => {}, { eventsDropped: dropped });
    await another.start();
    await eventually(async () => expect(await rows()).toEqual([]));
    await another.stop();
    expect(missed).toEqual([{ webhook: new URL(hook).host, count: 2 }]);
  });

  it('are sent to each of several webhooks with one URL, with separate positions', async () => {
    const got = { starts: [] as string[], ends: [] as string[] };
    let reject = true;
    const hook = await receiver(({ event_type: type }) => {
      if (type.endsWith('.end')) got.ends.push(type);
      else if (reject) return 500;
      else got.starts.push(type);
      return 204;
    });
    const webhooks = [
      { url: hook, secret: SECRET, types: ['instance.*.start'] },
      { url: hook, secret: SECRET, types: ['instance.*.end'] },
    ];
    const engine = await open({ events: { webhooks }, onError: () => {} });
    await create(engine);
    await eventually(() => expect(got.ends).toEqual(['instance.create.end']));
    const { store } = coreOf(engine);
    const names = await store.db.selectFrom('notification_cursors').select('name').where('name', '!=', '').execute();
    const plain = expect.stringMatching(/^127\.0\.0\.1:\d+ [0-9a-f]{16}$/);
    expect(names.map(({ name }) => name).sort()).toEqual([
      plain,
      expect.stringMatching(/ [0-9a-f]{16} instance\.\*\.end$/),
    ]);
    // One webhook has accepted events that the other must still receive.
    reject = false;
    await eventually(() => expect(got.starts).toEqual(['instance.create.start']));
    expect(got.ends).toEqual(['instance.create.end']);
  });

  it('are rejected with a fix if a webhook is invalid', async () => {
    const open_ = (webhook: object) => createEngine({ events: { webhooks: [webhook as never] } });
    await expect(open_({ url: 'ftp://x', secret: SECRET })).rejects.toThrow(/such as https:/);
    await expect(open_({ url: 'https://x', secret: SECRET, attempts: 0 })).rejects.toThrow(/integer of at least 1/);
    await expect(open_({ url: 'ftp://ada:hunter2@x', secret: SECRET })).rejects.toThrow(/^((?!hunter2).)*$/);
    await expect(open_({ url: 'https://ada:%zz@x', secret: SECRET })).rejects.toThrow(/percent-encoded/);
    await expect(open_({ url: 'https://x', secret: 'short' })).rejects.toThrow(/at least 24/);
    await expect(open_({ url: 'https://x', secret: SECRET, kinds: [] })).rejects.toThrow(/unknown option "kinds"/);
    const twice = { url: 'https://x', secret: SECRET };
    const both = createEngine({
      events: {
        webhooks: [
          { ...twice, name: 'billing' },
          { ...twice, url: 'https://y', name: 'billing' },
        ],
      },
    });
    await expect(both).rejects.toThrow(/two webhooks have the name "billing"/);
  });
});
