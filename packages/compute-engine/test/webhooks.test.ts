import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { contextOf } from '../src/core/context.js';
import type { Notification } from '../src/events/index.js';
import { createEngine, type Engine, type EngineOptions } from '../src/index.js';
import { coreOf } from '../src/testing/index.js';
import { storesUnderTest } from './stores-under-test.js';
import { receiveEvents, type WebhookReceiver } from './webhook-receiver.js';

const secret = 'a secret of more than twenty-four characters';
const ada = contextOf({ userId: 'ada', projectId: 'demo', roles: ['member'] }, 'req-ada');
const newServer = { flavorId: '1', imageId: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' } as const;
const nameIn = ({ payload }: Notification) => (payload['nova_object.data'] as { display_name: string }).display_name;

describe.each(storesUnderTest(inject('postgresUrl')))('a webhook on $kind', ({ database }) => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  async function receiver(response: Parameters<typeof receiveEvents>[0]): Promise<WebhookReceiver> {
    const opened = await receiveEvents(response);
    open.push(() => opened.close());
    return opened;
  }

  async function start(options: EngineOptions): Promise<Engine> {
    const engine = await createEngine({ database: await database(), ...options });
    open.push(() => engine.close());
    return engine;
  }

  it('sends credentials of its URL as a header, and neither stores nor reports them', async () => {
    const got: IncomingHttpHeaders[] = [];
    let status = 500;
    const { url: plain } = await receiver((_event, { headers }) => {
      got.push(headers);
      return status;
    });
    const errors: unknown[] = [];
    const hook = { url: `${plain.replace('//', '//ada:p%40ss@')}?token=hidden`, secret };
    const engine = await start({ events: { webhooks: [hook] }, onError: (error) => errors.push(error) });
    await engine.servers.create(ada, { ...newServer, name: 'web' });
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    status = 204;
    const authorization = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`;
    expect(got[0]).toMatchObject({ authorization, 'user-agent': 'Apistrata-Webhook' });
    const { store } = coreOf(engine);
    const cursors = await store.db.selectFrom('notification_cursors').selectAll().execute();
    expect(JSON.stringify(cursors) + errors.map(String)).not.toMatch(/p%40ss|p@ss|hidden/);
  });

  it('keeps the position that an earlier version stored under its URL, and replaces that key', async () => {
    const types: string[] = [];
    const { url: hook } = await receiver(({ event_type: type }) => {
      types.push(type);
      return 204;
    });
    const engine = await start({ events: {} });
    await engine.servers.create(ada, { ...newServer, name: 'web' });
    await engine.idle();
    const { store } = coreOf(engine);
    await store.db.insertInto('notification_cursors').values({ name: hook, position: 0, lease_until: 0 }).execute();
    const { EngineEvents } = await import('../src/events/engine-events.js');
    const later = new EngineEvents(store, engine.clock, { webhooks: [{ url: hook, secret }] }, () => {});
    await later.start();
    open.push(() => later.stop());
    // Events that were stored before the webhook was renamed are also delivered.
    await expect.poll(() => types).toContain('instance.create.end');
    const names = await store.db.selectFrom('notification_cursors').select('name').execute();
    expect(names.map(({ name }) => name)).not.toContain(hook);
    expect(names).toHaveLength(2);
  });

  it('makes an event that is always rejected a dead letter, and sends the others', async () => {
    const got: string[] = [];
    let accepts = false;
    const { url: hook } = await receiver((event) => {
      const isRejected = nameIn(event) === 'poison' && event.event_type === 'instance.create.start';
      if (isRejected && !accepts) return 422;
      got.push(`${nameIn(event)} ${event.event_type}`);
      return 204;
    });
    const rejected: unknown[] = [];
    const types = ['instance.create.start', 'instance.create.end'];
    const engine = await start({
      events: { webhooks: [{ url: hook, secret, types, attempts: 2, name: 'billing' }] },
      observer: { eventRejected: (event) => rejected.push(event) },
      onError: () => {},
    });
    const { deadLetters } = engine.events;
    for (const name of ['poison', 'web']) await engine.servers.create(ada, { ...newServer, name });
    // Later events of the same server are also delivered.
    await expect
      .poll(() => got.toSorted())
      .toEqual(['poison instance.create.end', 'web instance.create.end', 'web instance.create.start']);
    const [letter, ...more] = await deadLetters.list();
    expect(more).toEqual([]);
    expect(letter).toMatchObject({
      webhook: 'billing',
      type: 'instance.create.start',
      attempts: 2,
      resendRequested: false,
      reason: expect.stringMatching(/returned 422/),
    });
    expect(rejected).toEqual([{ webhook: new URL(hook).host, type: 'instance.create.start' }]);

    expect(await deadLetters.retry()).toBe(1);
    await expect.poll(async () => (await deadLetters.list())[0]).toMatchObject({ attempts: 3, resendRequested: false });
    accepts = true;
    expect(await deadLetters.retry([letter?.number ?? 0])).toBe(1);
    await expect.poll(() => deadLetters.list()).toEqual([]);
    expect(got.at(-1)).toBe('poison instance.create.start');
    expect(await deadLetters.retry()).toBe(0);
  });

  it.each([429, 503])('waits for a receiver that returns %i to every event', async (status) => {
    let unavailable = true;
    let requests = 0;
    const { url: hook } = await receiver(() => {
      requests++;
      return unavailable ? status : 204;
    });
    const types = ['instance.create.end'];
    const engine = await start({
      events: { webhooks: [{ url: hook, secret, types, attempts: 1 }] },
      onError: () => {},
    });
    await engine.servers.create(ada, { ...newServer, name: 'web' });
    await expect.poll(() => requests).toBe(2);
    unavailable = false;
    await expect.poll(() => requests).toBe(3);
    expect(await engine.events.deadLetters.list()).toEqual([]);
  });

  it('does not keep dead letters longer than events', async () => {
    const engine = await start({ events: {} });
    const { deadLetters } = engine.events;
    const event = { position: 1, id: 'e', type: 'instance.create.end', serverId: null, body: '{}' };
    await deadLetters.add('billing', event, 'rejected', 1);
    await deadLetters.add('billing', event, 'rejected again', 2);
    expect(await deadLetters.list()).toMatchObject([{ attempts: 2, reason: 'rejected again' }]);
    await deadLetters.purge(Date.now() - 60_000);
    expect(await deadLetters.list()).toHaveLength(1);
    await deadLetters.purge(Date.now() + 1);
    expect(await deadLetters.list()).toEqual([]);
  });
});
