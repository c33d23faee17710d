import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostLease } from '../../src/hosts/host-lease.js';
import { HostRequests, type NewHostRequest } from '../../src/hosts/host-requests.js';
import { HostRpcClient } from '../../src/hosts/host-rpc-client.js';
import { openStore } from '../../src/schema/open-store.js';
import { generateSecretKey, Sealer } from '../../src/secrets/sealer.js';
import { createHostSealers } from '../../src/secrets/sealer-for.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('requests to hosts', () => {
  const owner = randomUUID();
  let url: string;
  let store: Store;
  let orders: HostRequests;
  beforeAll(async () => {
    url = await freshDatabase(postgresUrl);
    store = await openStore(url);
    orders = new HostRequests(store, () => undefined);
    expect(await new HostLease(store, { host: 'h1', owner, leaseMs: 60_000 }).acquire()).toBe(true);
  });
  afterAll(() => store.close());

  const order = (id: string): NewHostRequest => ({
    id,
    host: 'h1',
    serverId: null,
    call: { kind: 'perform', work: { verb: 'power_on' }, origin: { action: 'os-start', requestId: 'req-1' } },
  });
  const claimed = () => orders.claim('h1', owner, 100);

  it('are stored once if a batch contains duplicates', async () => {
    await orders.post('requester', [order('twice'), order('once'), order('twice')]);
    const found = await claimed();
    expect(found.map(({ id }) => id).toSorted()).toEqual(['once', 'twice']);
    await orders.storeResult('h1', owner, [
      { id: 'once', result: { value: 1 } },
      { id: 'twice', result: { value: 2 } },
    ]);
    expect(await orders.collect('requester')).toHaveLength(2);
  });

  it('are cancelled if a later attempt of their job requests something else, and are not taken over by an earlier one', async () => {
    const of = (work: string, attempt: number) => ({ ...order(`job.${work}`), job: { id: 'job', attempt } });
    const ids = async () => (await orders.findMissing(['job.spawn', 'job.prepare', 'other.spawn'])).toSorted();
    await orders.post('dead', [of('spawn', 1), { ...order('other.spawn'), job: { id: 'other', attempt: 1 } }]);
    await orders.post('alive', [of('prepare', 2)]);
    expect(await ids()).toEqual(['job.spawn']);
    await orders.post('dead', [of('prepare', 1)]);
    await claimed();
    await orders.storeResult('h1', owner, [{ id: 'job.prepare', result: { value: 1 } }]);
    expect(await orders.collect('dead')).toEqual([]);
    expect(await orders.collect('alive')).toEqual([{ id: 'job.prepare', result: { value: 1 } }]);
    await orders.end(owner, 'other.spawn');
  });

  it('can be decrypted only by their host, and only for their server', async () => {
    const cloud = new Sealer([generateSecretKey()]);
    const sealed = new HostRequests(store, createHostSealers(cloud));
    const claimedWith = async (sealer: Sealer, id: string, change = 'select 1') => {
      await sealed.post('requester', [{ ...order(id), serverId: 'web' }]);
      await sql.raw(change).execute(store.db);
      const [claimed] = await new HostRequests(store, () => sealer).claim('h1', owner, 100);
      await sealed.cancel(id);
      return claimed?.call;
    };
    expect(await claimedWith(cloud.sealerForHost('h1'), 'own')).toMatchObject({ kind: 'perform' });
    expect(await claimedWith(cloud.sealerForHost('h2'), 'others')).toMatchObject({ code: 'DECRYPTION_FAILED' });
    expect(await claimedWith(cloud, 'of the cloud')).toMatchObject({ code: 'DECRYPTION_FAILED' });
    const moved = `update host_orders set server_id = 'db' where id = 'moved'`;
    expect(await claimedWith(cloud.sealerForHost('h1'), 'moved', moved)).toMatchObject({ code: 'DECRYPTION_FAILED' });
  });

  it('whose response cannot be decrypted fail individually', async () => {
    const cloud = new Sealer([generateSecretKey()]);
    const sealed = new HostRequests(store, createHostSealers(cloud));
    await sealed.post('requester', [order('good'), order('bad')]);
    await claimed();
    await new HostRequests(store, () => cloud.sealerForHost('h1')).storeResult('h1', owner, [
      { id: 'good', result: { value: 1 } },
    ]);
    await new HostRequests(store, () => cloud.sealerForHost('h2')).storeResult('h1', owner, [
      { id: 'bad', result: { value: 2 } },
    ]);
    const collected = await sealed.collect('requester');
    expect(collected).toEqual(
      expect.arrayContaining([
        { id: 'good', result: { value: 1 } },
        { id: 'bad', result: { error: expect.objectContaining({ code: 'DECRYPTION_FAILED' }) } },
      ]),
    );
    expect(collected).toHaveLength(2);
  });

  it('of one process are all completed, even if some are duplicates and one cannot be stored', async () => {
    const rpcClient = new HostRpcClient(url, store, orders);
    const { signal } = new AbortController();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const unwritable = { ...order('bad'), call: { kind: 'perform', work: circle } } as unknown as NewHostRequest;
    const requested = [order('a'), order('b'), order('b'), unwritable, order('c'), order('b')].map((each) =>
      rpcClient.call(each, signal, () => false),
    );
    const responses = Promise.allSettled(requested);
    const notified = new Set<string>();
    await expect
      .poll(async () => {
        for (const { id } of await claimed()) {
          notified.add(id);
          await orders.storeResult('h1', owner, [{ id, result: { value: id } }]);
        }
        return [...notified].toSorted();
      })
      .toEqual(['a', 'b', 'c']);
    expect(await responses).toMatchObject([
      { value: 'a' },
      { value: 'b' },
      { value: 'b' },
      { reason: { message: expect.stringContaining('circular') } },
      { value: 'c' },
      { value: 'b' },
    ]);
    await rpcClient.stop();
  });

  it('are collected again after a deadlock', async () => {
    const rpcClient = new HostRpcClient(url, store, orders);
    onTestFinished(() => rpcClient.stop());
    const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    const collect = vi.spyOn(orders, 'collect').mockRejectedValueOnce(deadlock);
    onTestFinished(() => collect.mockRestore());
    const response = rpcClient.call(order('blocked'), new AbortController().signal, () => false);
    await expect.poll(async () => (await claimed()).map(({ id }) => id)).toEqual(['blocked']);
    await orders.storeResult('h1', owner, [{ id: 'blocked', result: { value: 'unblocked' } }]);
    expect(await response).toBe('unblocked');
  });
});
