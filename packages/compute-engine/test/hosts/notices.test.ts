import { randomUUID } from 'node:crypto';
import { channelOf, Notices, type Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostDesk } from '../../src/hosts/host-desk.js';
import { HostOrders } from '../../src/hosts/host-orders.js';
import { openStore } from '../../src/schema/open-store.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('notices of PostgreSQL', { timeout: 60_000 }, () => {
  let url: string;
  let store: Store;
  const heard: string[] = [];
  let notices: Notices | undefined;

  beforeEach(async () => {
    url = await freshDatabase(postgresUrl);
    store = await openStore(url);
    heard.length = 0;
  });
  afterEach(async () => {
    await notices?.stop();
    await store.close();
  });

  const listen = (session: Store = store) => {
    notices = new Notices({ url, session, receiver: 'me', hear: (payload) => heard.push(payload) });
    notices.start();
    return notices;
  };
  const notify = (receiver: string, payload: string) =>
    sql`select pg_notify(${channelOf(receiver)}, ${payload})`.execute(store.db);

  it('arrive at their receiver and at nobody else', async () => {
    const mine = listen();
    await eventually(() => expect(mine.listening).toBe(true));
    await notify('somebody else', 'not for me');
    await notify('me', 'for me');
    await eventually(() => expect(heard).toEqual(['', 'for me']));
  });

  it('arrive again after the connection was cut, and it is told that some may be missing', async () => {
    const mine = listen();
    await eventually(() => expect(mine.listening).toBe(true));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'apistrata notices'`.execute(
      store.db,
    );
    await eventually(() => expect(heard).toEqual(['', '']));
    expect(mine.listening).toBe(true);
    await notify('me', 'again');
    await eventually(() => expect(heard.at(-1)).toBe('again'));
  });

  it('are known not to arrive where a pooler keeps them, and answers are looked for all the same', async () => {
    // As behind a pooler: what is said in one place is never heard in the other.
    const elsewhere = await freshDatabase(postgresUrl);
    const orders = new HostOrders(store, undefined);
    const desk = new HostDesk(elsewhere, store, orders);
    const ended = new AbortController();
    try {
      const order = { id: randomUUID(), host: 'h1', serverId: null, question: { kind: 'hostUptime' } } as const;
      const asked = desk.ask(order, ended.signal, () => false);
      await sql`insert into host_holds values ('h1', 'owner', 0)`.execute(store.db);
      await eventually(async () => {
        const [taken] = await orders.claim('h1', 'owner', 1);
        expect(taken).toMatchObject({ id: order.id, awaited: true, question: order.question });
      });
      await orders.answer('owner', [{ id: order.id, answer: { value: 'up for a day' } }]);
      expect(await asked).toBe('up for a day');
    } finally {
      await desk.stop();
    }
  });

  it('carry nothing: what is asked and answered is sealed, and is gone with the answer', async () => {
    const { newSecretKey, Sealer } = await import('../../src/secrets/sealer.js');
    const orders = new HostOrders(store, new Sealer([newSecretKey()]));
    const work = { verb: 'set_password', adminPassword: 'planted-password' } as const;
    const origin = { action: 'changePassword', requestId: 'req-1' };
    const order = { id: 'o1', host: 'h1', serverId: 's1', question: { kind: 'perform', work, origin } } as const;
    await orders.post('asker', [order]);
    expect(await orders.post('another asker', [order])).toBe(false);
    await sql`insert into host_holds values ('h1', 'owner', 0)`.execute(store.db);
    expect(await orders.claim('h1', 'no owner', 5)).toEqual([]);
    const { id, serverId, question } = order;
    expect(await orders.claim('h1', 'owner', 5)).toEqual([{ id, serverId, question, awaited: true }]);
    await orders.answer('owner', [{ id, answer: { value: 'planted-answer' } }]);
    const { rows } = await sql`select * from host_orders`.execute(store.db);
    expect(JSON.stringify(rows)).not.toContain('planted');
    expect(await orders.collect('asker')).toEqual([]);
    expect(await orders.collect('another asker')).toEqual([{ id, answer: { value: 'planted-answer' } }]);
    expect((await sql`select * from host_orders`.execute(store.db)).rows).toEqual([]);
  });
});
