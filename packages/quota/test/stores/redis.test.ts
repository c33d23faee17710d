import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { redisStore } from '../../src/redis/index.js';
import { testQuotaStore } from '../../src/testing/index.js';

const url = inject('redisUrl');

describe.skipIf(!url)('on a real server', () => {
  let client: Redis;
  let opened = 0;

  beforeAll(() => {
    client = new Redis(url);
  });
  afterAll(async () => {
    await client?.quit();
  });

  function fresh(clock?: () => number) {
    // Pattern characters in the prefix: a sweep must not interpret them.
    return redisStore({ client, keyPrefix: `{suite[*]-${process.pid}-${opened++}}:`, clock });
  }

  testQuotaStore({ describe, it, name: 'Redis', open: ({ clock }) => fresh(clock) });

  it('expires reservations by the clock of the server by default', async () => {
    const store = fresh();
    const reservation = { id: 'h', project: 'p', amounts: { secrets: 1 } };
    await store.reserve({ ...reservation, defaults: { secrets: 1 }, ttlMs: 3_600_000 });
    const [, expiry] = await client.zrange(`{suite[*]-${process.pid}-${opened - 1}}:holds:p`, '0', '-1', 'WITHSCORES');
    expect(Math.abs(Number(expiry) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(await store.settle(reservation, 'commit')).toBe(true);
  });

  it('counts an amount once if a client repeats it after a lost connection', async () => {
    const store = fresh();
    const request = { id: 'h', project: 'p', amounts: { secrets: 2 }, defaults: { secrets: 3 }, ttlMs: 1000 };
    expect(await store.reserve(request)).toEqual([]);
    expect(await store.reserve(request)).toEqual([]);
    expect(await store.counts('p')).toEqual({ secrets: { used: 0, reserved: 2 } });
  });

  it('sends more requests while the server processes others', async () => {
    let [under, max, calls] = [0, 0, 0];
    const counting = {
      call: async (command: string, ...args: string[]) => {
        calls++;
        max = Math.max(max, ++under);
        try {
          return await client.call(command, ...args);
        } finally {
          under--;
        }
      },
    };
    const store = redisStore({ client: counting, keyPrefix: `{suite-${process.pid}-${opened++}}:` });
    const request = { project: 'p', amounts: { secrets: 1 }, defaults: { secrets: 150 }, ttlMs: 60_000 };
    await store.reserve({ ...request, id: 'first' });
    calls = 0;
    const reservations = await Promise.all(
      Array.from({ length: 200 }, (_, n) => store.reserve({ ...request, id: `r${n}` })),
    );
    expect(max).toBe(4);
    expect(calls).toBeLessThanOrEqual(10);
    expect(reservations.filter((exceeded) => exceeded.length === 0)).toHaveLength(149);
    expect(await store.counts('p')).toEqual({ secrets: { used: 0, reserved: 150 } });
  });

  it('continues after the server has lost its script cache', async () => {
    const store = fresh();
    await store.setLimits('p', { secrets: 1 });
    await client.script('FLUSH');
    await store.setLimits('q', { secrets: 1 });
    expect((await store.listLimits({ limit: 10, offset: 0 })).total).toBe(2);
  });

  it('sets an expiry on receipts of consume operations', async () => {
    const store = fresh();
    const consume = () => store.consume!({ id: 'h', project: 'p', amounts: { secrets: 1 }, defaults: { secrets: -1 } });
    await consume();
    await Promise.all([consume(), consume()]);
    await consume();
    const prefix = `{suite[*]-${process.pid}-${opened - 1}}:receipts:`;
    const keys = (await client.keys('*:receipts:*')).filter((key) => key.startsWith(prefix));
    expect(keys).toHaveLength(1);
    expect(await client.ttl(keys[0]!)).toBeGreaterThan(80_000);
  });

  it('leaves no key after everything is released', async () => {
    const store = fresh();
    const reservation = { id: 'h', project: 'p', amounts: { secrets: 1, orders: 2 } };
    await store.reserve({ ...reservation, defaults: { secrets: -1, orders: -1 }, ttlMs: 1000 });
    await store.settle(reservation, 'commit');
    await store.release('p', reservation.amounts);
    expect(await client.exists(`{suite[*]-${process.pid}-${opened - 1}}:counters:p`)).toBe(0);
    expect(await client.exists(`{suite[*]-${process.pid}-${opened - 1}}:holds:p`)).toBe(0);
  });
});

describe('redisStore', () => {
  it('rejects a client that prefixes keys itself, and names the fix', () => {
    const client = { options: { keyPrefix: 'app:' }, call: async () => null };
    expect(() => redisStore({ client })).toThrow('set keyPrefix on the store');
  });

  it('rejects a misspelled option and a missing client', () => {
    expect(() => redisStore({ cilent: 1 } as never)).toThrow('did you mean "client"?');
    expect(() => redisStore({} as never)).toThrow('a client is required');
  });
});
