import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { freshDatabase } from '../../../testing/fresh-database.js';
import { contextOf } from '../src/core/context.js';
import { SimulatedDriver } from '../src/drivers/index.js';
import { type Notification, signatureOf, type ToldEvent } from '../src/events/index.js';
import { createEngine, type Engine, type EngineOptions } from '../src/index.js';
import { coreOf } from '../src/testing/index.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
const SECRET = 'a secret of more than twenty-four characters';
const postgresUrl = inject('postgresUrl');
const databases = [
  { kind: 'SQLite', url: async () => ':memory:' },
  ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
];
const ada = contextOf({ userId: 'ada', projectId: 'demo', roles: ['member'] }, 'req-ada');
const wanted = { name: 'web', flavorId: '1', imageId: IMAGE, networks: 'none' } as const;
const data = ({ payload }: Notification) => payload['nova_object.data'] as Record<string, any>;

describe.each(databases)('what happens, on $kind', ({ url }) => {
  const engines: Engine[] = [];
  const servers: Server[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function open(options: EngineOptions): Promise<Engine> {
    const engine = await createEngine({ database: await url(), ...options });
    engines.push(engine);
    return engine;
  }

  async function receiver(
    answer: (event: Notification, req: IncomingMessage, body: string) => number,
  ): Promise<string> {
    const server = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => res.writeHead(answer(JSON.parse(body), req, body)).end());
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  const create = async (engine: Engine, name = 'web') => {
    const { servers: made } = await engine.servers.create(ada, { ...wanted, name });
    await engine.idle();
    return made[0]!.id;
  };

  it('is told to functions of this process, in the form and under the names of the original', async () => {
    const engine = await open({});
    const heard: Notification[] = [];
    const end = engine.on('*', (event) => heard.push(event));
    const id = await create(engine);
    await engine.servers.act(ada, id, 'os-stop');
    await engine.idle();
    const types = heard.map(({ event_type }) => event_type).filter((type) => type !== 'instance.update');
    expect(types).toEqual([
      'instance.create.start',
      'instance.create.end',
      'instance.power_off.start',
      'instance.power_off.end',
    ]);
    const created = heard.find(({ event_type }) => event_type === 'instance.create.end')!;
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
    const states = heard
      .filter(({ event_type }) => event_type === 'instance.update')
      .map((event) => data(event).state_update['nova_object.data']);
    expect(states.at(0)).toMatchObject({ old_state: null, state: 'building' });
    expect(states.at(-1)).toMatchObject({ old_state: 'active', state: 'stopped', new_task_state: null });
    end();
    await engine.servers.act(ada, id, 'os-start');
    await engine.idle();
    expect(heard.at(-1)!.event_type).toBe('instance.power_off.end');
  });

  it('is told of what fails, with the fault, and of quota refusals, once in a while for the same', async () => {
    const driver = (clock: Engine['clock']) =>
      new SimulatedDriver({ clock, rules: [{ match: { verb: 'spawn' }, fail: 'out of luck' }] });
    const engine = await open({ driver, settings: { quotas: { instances: 1 } as never } });
    const heard: Notification[] = [];
    engine.on('*.error', (event) => heard.push(event));
    engine.on('quota.*', (event) => heard.push(event));
    await create(engine);
    await expect(create(engine)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(create(engine)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(heard.map(({ event_type, priority }) => `${event_type} ${priority}`)).toEqual([
      'instance.create.error ERROR',
      'quota.refused ERROR',
    ]);
    expect(data(heard[0]!).fault['nova_object.data'].exception_message).toMatch(/out of luck/);
    expect(data(heard[1]!)).toEqual({
      tenant_id: 'demo',
      user_id: 'ada',
      exceeded: [{ kind: 'instances', requested: 1, used: 1, limit: 1 }],
    });
  });

  it('costs the database nothing where nobody wants it kept', async () => {
    const statements: string[] = [];
    const engine = await open({ observer: { statement: ({ name }) => statements.push(name) } });
    statements.length = 0;
    await create(engine);
    expect(statements.filter((name) => name.includes('notification'))).toEqual([]);
    expect(engine.events.kept).toBe(false);
  });

  it('is kept in the transaction that does it: what is undone was never said', async () => {
    const engine = await open({ events: {}, worker: false });
    const { store } = coreOf(engine);
    const rows = () => store.db.selectFrom('notifications').select('event_type').orderBy('seq').execute();
    await engine.servers.create(ada, wanted);
    const before = await rows();
    expect(before.map(({ event_type }) => event_type)).toEqual(['instance.update']);
    await expect(engine.servers.create(ada, { ...wanted, minCount: 11, maxCount: 11 })).rejects.toThrow(/Quota/);
    expect((await rows()).filter(({ event_type }) => event_type.startsWith('instance'))).toEqual(before);
  });

  it('is read in order from any place, and by who waits for more', async () => {
    const engine = await open({ events: {} });
    await create(engine);
    const ending = new AbortController();
    const read: ToldEvent[] = [];
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
    expect(rest.value?.map(({ id }: ToldEvent) => id)).toEqual([read.at(-1)!.id]);
  });

  it('is sent to webhooks, signed, again until it is taken, each server in its order', async () => {
    const got: Notification[] = [];
    const refusedOnce = new Set<string>();
    const signatures: boolean[] = [];
    const hook = await receiver((event, req, body) => {
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = req.headers;
      signatures.push(signature === signatureOf(SECRET, String(id), Number(at), body) && id === event.message_id);
      // The first of each server is refused for a start: nothing else of that server may come before it.
      const server = data(event).uuid;
      if (!refusedOnce.has(server)) {
        refusedOnce.add(server);
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
    expect(String(errors[0])).toMatch(/the webhook 127\.0\.0\.1:\d+ answered 500 to instance\.create\.start/);
  });

  it('is removed when it is old, and counted for those who never took it', async () => {
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
    const dropped = (told: unknown) => missed.push(told);
    const another = new EngineEvents(store, engine.clock, options, () => {}, dropped);
    await another.start();
    await eventually(async () => expect(await rows()).toEqual([]));
    await another.stop();
    expect(missed).toEqual([{ webhook: new URL(hook).host, count: 2 }]);
  });

  it('is told to each of several webhooks of one address, and each has a place of its own', async () => {
    const got = { starts: [] as string[], ends: [] as string[] };
    let refuse = true;
    const hook = await receiver(({ event_type: type }) => {
      if (type.endsWith('.end')) got.ends.push(type);
      else if (refuse) return 500;
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
    expect(names.map(({ name }) => name).sort()).toEqual([hook, `${hook} instance.*.end`]);
    // What the one has taken, the other still has to be told.
    refuse = false;
    await eventually(() => expect(got.starts).toEqual(['instance.create.start']));
    expect(got.ends).toEqual(['instance.create.end']);
  });

  it('is refused with the cure where a webhook cannot be', async () => {
    const open_ = (webhook: object) => createEngine({ events: { webhooks: [webhook as never] } });
    await expect(open_({ url: 'ftp://x', secret: SECRET })).rejects.toThrow(/like https:/);
    await expect(open_({ url: 'https://x', secret: 'short' })).rejects.toThrow(/at least 24/);
    await expect(open_({ url: 'https://x', secret: SECRET, kinds: [] })).rejects.toThrow(/unknown option "kinds"/);
    const twice = { url: 'https://x', secret: SECRET };
    const both = createEngine({ events: { webhooks: [twice, { ...twice, name: 'https://x' }] } });
    await expect(both).rejects.toThrow(/give each its own/);
  });
});
