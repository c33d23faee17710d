import { randomUUID } from 'node:crypto';
import { channelOf, NotificationListener, type Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostRequests } from '../../src/hosts/host-requests.js';
import { HostRpcClient } from '../../src/hosts/host-rpc-client.js';
import { openStore } from '../../src/schema/open-store.js';
import { generateSecretKey, Sealer } from '../../src/secrets/sealer.js';
import { createHostSealers } from '../../src/secrets/sealer-for.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('PostgreSQL notifications', { timeout: 60_000 }, () => {
  let url: string;
  let store: Store;
  const received: string[] = [];
  let notices: NotificationListener | undefined;

  beforeEach(async () => {
    url = await freshDatabase(postgresUrl);
    store = await openStore(url);
    received.length = 0;
  });
  afterEach(async () => {
    await notices?.stop();
    await store.close();
  });

  const listen = (session: Store = store) => {
    notices = new NotificationListener({
      url,
      session,
      receiver: 'me',
      onNotification: (payload) => received.push(payload),
    });
    notices.start();
    return notices;
  };
  const notify = (receiver: string, payload: string) =>
    sql`select pg_notify(${channelOf(receiver)}, ${payload})`.execute(store.db);

  it('are received only by their addressee', async () => {
    const listener = listen();
    await eventually(() => expect(listener.listening).toBe(true));
    await notify('another receiver', 'not for me');
    await notify('me', 'for me');
    await eventually(() => expect(received).toEqual(['', 'for me']));
  });

  it('are received again after a reconnect, which is reported because some may have been missed', async () => {
    const listener = listen();
    await eventually(() => expect(listener.listening).toBe(true));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'apistrata notices'`.execute(
      store.db,
    );
    await eventually(() => expect(received).toEqual(['', '']));
    expect(listener.listening).toBe(true);
    await notify('me', 'again');
    await eventually(() => expect(received.at(-1)).toBe('again'));
  });

  it('are replaced by polling for responses if a pooler loses them', async () => {
    // Simulates a pooler: notifications of one database never reach the other.
    const elsewhere = await freshDatabase(postgresUrl);
    const orders = new HostRequests(store, () => undefined);
    const rpcClient = new HostRpcClient(elsewhere, store, orders);
    const ended = new AbortController();
    try {
      const order = { id: randomUUID(), host: 'h1', serverId: null, call: { kind: 'tidy' } } as const;
      const requested = rpcClient.call(order, ended.signal, () => false);
      await sql`insert into host_holds values ('h1', 'owner', 0)`.execute(store.db);
      await eventually(async () => {
        const [claimed] = await orders.claim('h1', 'owner', 1);
        expect(claimed).toMatchObject({ id: order.id, awaited: true, call: order.call });
      });
      await orders.storeResult('h1', 'owner', [{ id: order.id, result: { value: 'removed' } }]);
      expect(await requested).toBe('removed');
    } finally {
      await rpcClient.stop();
    }
  });

  it('have no content: requests and responses are sealed, and deleted when the response is collected', async () => {
    const orders = new HostRequests(store, createHostSealers(new Sealer([generateSecretKey()])));
    const work = { verb: 'set_password', adminPassword: 'planted-password' } as const;
    const origin = { action: 'changePassword', requestId: 'req-1' };
    const order = { id: 'o1', host: 'h1', serverId: 's1', call: { kind: 'perform', work, origin } } as const;
    await orders.post('requester', [order]);
    expect(await orders.post('another requester', [order])).toBe(false);
    await sql`insert into host_holds values ('h1', 'owner', 0)`.execute(store.db);
    expect(await orders.claim('h1', 'no owner', 5)).toEqual([]);
    const { id, serverId, call: request } = order;
    expect(await orders.claim('h1', 'owner', 5)).toEqual([{ id, serverId, call: request, awaited: true }]);
    await orders.storeResult('h1', 'owner', [{ id, result: { value: 'planted-answer' } }]);
    const { rows } = await sql`select * from host_orders`.execute(store.db);
    expect(JSON.stringify(rows)).not.toContain('planted');
    expect(await orders.collect('requester')).toEqual([]);
    expect(await orders.collect('another requester')).toEqual([{ id, result: { value: 'planted-answer' } }]);
    expect((await sql`select * from host_orders`.execute(store.db)).rows).toEqual([]);
  });
});
