import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostDesk } from '../../src/hosts/host-desk.js';
import { HostHold } from '../../src/hosts/host-hold.js';
import { HostOrders, type NewHostOrder } from '../../src/hosts/host-orders.js';
import { openStore } from '../../src/schema/open-store.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('orders of hosts', () => {
  const owner = randomUUID();
  let url: string;
  let store: Store;
  let orders: HostOrders;
  beforeAll(async () => {
    url = await freshDatabase(postgresUrl);
    store = await openStore(url);
    orders = new HostOrders(store, undefined);
    expect(await new HostHold(store, { host: 'h1', owner, leaseMs: 60_000 }).take()).toBe(true);
  });
  afterAll(() => store.close());

  const order = (id: string, action: 'reboot' | 'shutdown' = 'reboot'): NewHostOrder => ({
    id,
    host: 'h1',
    serverId: null,
    question: { kind: 'hostPower', action },
  });
  const claimed = () => orders.claim('h1', owner, 100);

  it('are written down once where one batch has the same one twice', async () => {
    await orders.post('asker', [order('twice'), order('once'), order('twice')]);
    const found = await claimed();
    expect(found.map(({ id }) => id).toSorted()).toEqual(['once', 'twice']);
    await orders.answer(owner, [
      { id: 'once', answer: { value: 1 } },
      { id: 'twice', answer: { value: 2 } },
    ]);
    expect(await orders.collect('asker')).toHaveLength(2);
  });

  it('are withdrawn when a later attempt of their job requests something else, and are not taken over by an earlier one', async () => {
    const of = (work: string, attempt: number) => ({ ...order(`job.${work}`), job: { id: 'job', attempt } });
    const ids = async () => (await orders.missing(['job.spawn', 'job.prepare', 'other.spawn'])).toSorted();
    await orders.post('dead', [of('spawn', 1), { ...order('other.spawn'), job: { id: 'other', attempt: 1 } }]);
    await orders.post('alive', [of('prepare', 2)]);
    expect(await ids()).toEqual(['job.spawn']);
    await orders.post('dead', [of('prepare', 1)]);
    await claimed();
    await orders.answer(owner, [{ id: 'job.prepare', answer: { value: 1 } }]);
    expect(await orders.collect('dead')).toEqual([]);
    expect(await orders.collect('alive')).toEqual([{ id: 'job.prepare', answer: { value: 1 } }]);
    await orders.end(owner, 'other.spawn');
  });

  it('of one process are answered, all of them, where some are doubled and one cannot be written down', async () => {
    const desk = new HostDesk(url, store, orders);
    const { signal } = new AbortController();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const unwritable = { ...order('bad'), question: { kind: 'hostPower', action: circle } } as unknown as NewHostOrder;
    const asked = [order('a'), order('b'), order('b'), unwritable, order('c'), order('b')].map((each) =>
      desk.ask(each, signal, () => false),
    );
    const answers = Promise.allSettled(asked);
    const told = new Set<string>();
    await expect
      .poll(async () => {
        for (const { id } of await claimed()) {
          told.add(id);
          await orders.answer(owner, [{ id, answer: { value: id } }]);
        }
        return [...told].toSorted();
      })
      .toEqual(['a', 'b', 'c']);
    expect(await answers).toMatchObject([
      { value: 'a' },
      { value: 'b' },
      { value: 'b' },
      { reason: { message: expect.stringContaining('circular') } },
      { value: 'c' },
      { value: 'b' },
    ]);
    await desk.stop();
  });
});
