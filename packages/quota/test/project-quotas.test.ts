import { beforeEach, describe, expect, it } from 'vitest';
import { defaultsFrom, memoryStore, type ProjectQuotas, projectQuotas, type QuotaStore } from '../src/index.js';

let now: number;
let quota: ProjectQuotas;

beforeEach(() => {
  now = 1_000_000;
  quota = projectQuotas({
    preset: 'key-manager',
    store: memoryStore({ clock: () => now }),
    defaults: { secrets: 3, orders: 2, cas: 0 },
  });
});

describe('limits', () => {
  it('are unlimited for each of the five kinds unless configured', async () => {
    const plain = projectQuotas({ preset: 'key-manager', store: memoryStore() });
    expect(await plain.effectiveLimits('p')).toEqual({
      secrets: -1,
      orders: -1,
      containers: -1,
      consumers: -1,
      cas: -1,
    });
  });

  it('of a project replace the defaults kind by kind, and null means the default', async () => {
    await quota.set('p', { secrets: 9, orders: null });
    expect(await quota.get('p')).toEqual({ secrets: 9, orders: null, containers: null, consumers: null, cas: null });
    expect(await quota.effectiveLimits('p')).toEqual({ secrets: 9, orders: 2, containers: -1, consumers: -1, cas: 0 });
  });

  it('are replaced as a whole', async () => {
    await quota.set('p', { secrets: 9, orders: 9 });
    await quota.set('p', { cas: 1 });
    expect(await quota.get('p')).toEqual({ secrets: null, orders: null, containers: null, consumers: null, cas: 1 });
  });

  it('can be removed, once', async () => {
    await quota.set('p', {});
    expect(await quota.remove('p')).toBe(true);
    expect(await quota.remove('p')).toBe(false);
    expect(await quota.get('p')).toBeUndefined();
  });

  it('are listed ten at a time, oldest first', async () => {
    for (let index = 0; index < 12; index++) await quota.set(`p${index}`, { secrets: index });
    const first = await quota.list();
    expect([first.entries.length, first.total, first.entries[0]!.project]).toEqual([10, 12, 'p0']);
    expect((await quota.list({ offset: 10 })).entries.map(({ project }) => project)).toEqual(['p10', 'p11']);
  });

  it('hide kinds that are no longer configured', async () => {
    const store = memoryStore();
    await projectQuotas({ store, kinds: ['old', 'kept'] }).set('p', { old: 1, kept: 2 });
    expect(await projectQuotas({ store, kinds: ['kept'] }).get('p')).toEqual({ kept: 2 });
  });
});

describe('reservations', () => {
  it('take several kinds or none', async () => {
    const rejected = quota.reserve('p', { secrets: 1, orders: 3 });
    await expect(rejected).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
      status: 403,
      details: [{ kind: 'orders', requested: 3, used: 0, limit: 2 }],
    });
    expect((await quota.usage('p')).secrets).toEqual({ used: 0, reserved: 0, limit: 3 });
  });

  it('become usage when they are committed, even twice', async () => {
    const reservation = await quota.reserve('p', { secrets: 2 });
    expect((await quota.usage('p')).secrets).toEqual({ used: 0, reserved: 2, limit: 3 });
    await reservation.commit();
    await reservation.commit();
    await reservation.release();
    expect((await quota.usage('p')).secrets).toEqual({ used: 2, reserved: 0, limit: 3 });
    expect(reservation.open).toBe(false);
  });

  it('are available again after release, which may be repeated, and can then no longer be committed', async () => {
    const reservation = await quota.reserve('p', { secrets: 2 });
    await reservation.release();
    await reservation.release();
    await expect(reservation.commit()).rejects.toMatchObject({ code: 'QUOTA_RESERVATION_ENDED', status: 409 });
    expect((await quota.usage('p')).secrets!.reserved).toBe(0);
  });

  it('expire after their time-to-live', async () => {
    const reservation = await quota.reserve('p', { secrets: 3 }, { ttlMs: 500 });
    now += 500;
    await expect(reservation.commit()).rejects.toMatchObject({ code: 'QUOTA_RESERVATION_ENDED' });
    await reservation.release();
    await (await quota.reserve('p', { secrets: 3 })).commit();
  });

  it('last longer when renewed', async () => {
    const reservation = await quota.reserve('p', { secrets: 3 }, { ttlMs: 500 });
    now += 400;
    await reservation.renew();
    now += 400;
    await reservation.commit();
    await expect(reservation.renew()).rejects.toMatchObject({ code: 'QUOTA_RESERVATION_ENDED' });
  });

  it('of 0 are accepted even if the limit is 0', async () => {
    const reservation = await quota.reserve('p', { cas: 0 });
    await reservation.renew();
    await reservation.commit();
    await expect(quota.reserve('p', { cas: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('of all projects are removed periodically after expiry', async () => {
    let sweeps = 0;
    const store: QuotaStore = Object.assign(memoryStore(), { sweep: () => void sweeps++ });
    const withFrequentCleanup = projectQuotas({ preset: 'key-manager', store, sweepIntervalMs: 1 });
    await withFrequentCleanup.reserve('p', { secrets: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await withFrequentCleanup.reserve('p', { secrets: 1 });
    expect(sweeps).toBeGreaterThan(0);
  });
});

describe('usage', () => {
  it('is consumed in one step and released', async () => {
    await quota.consume('p', { secrets: 2, orders: 1 });
    await quota.release('p', { secrets: 1, orders: 5 });
    const usage = await quota.usage('p');
    expect([usage.secrets!.used, usage.orders!.used]).toEqual([1, 0]);
  });

  it('can be checked in advance without a reservation', async () => {
    await quota.consume('p', { secrets: 2 });
    await quota.reserve('p', { secrets: 1 });
    expect(await quota.peek('p', { orders: 2 })).toEqual({ allowed: true, exceeded: [] });
    expect(await quota.peek('p', { secrets: 1, orders: 3 })).toEqual({
      allowed: false,
      exceeded: [
        { kind: 'secrets', requested: 1, used: 3, limit: 3 },
        { kind: 'orders', requested: 3, used: 0, limit: 2 },
      ],
    });
    expect((await quota.usage('p')).secrets).toEqual({ used: 2, reserved: 1, limit: 3 });
  });

  it('can be set to the number of existing resources', async () => {
    await quota.recount('p', 'secrets', 17);
    expect((await quota.usage('p')).secrets!.used).toBe(17);
    await expect(quota.consume('p', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });
});

describe('invalid input', () => {
  const amounts: unknown[] = [0.5, -1, '1', true, null, NaN, Infinity, 2 ** 53, 1n, {}, [1], undefined];

  it.each(amounts)('rejects the amount %s', async (amount) => {
    const bad = { secrets: amount } as never;
    for (const call of [
      quota.reserve('p', bad),
      quota.consume('p', bad),
      quota.release('p', bad),
      quota.peek('p', bad),
    ])
      await expect(call).rejects.toMatchObject({ code: 'QUOTA_INVALID', status: 400 });
  });

  it.each(['nonsense', '__proto__', 'constructor', ''])('rejects the kind %j', async (kind) => {
    const bad = JSON.parse(`{${JSON.stringify(kind)}: 1}`);
    await expect(quota.reserve('p', bad)).rejects.toMatchObject({ code: 'QUOTA_INVALID' });
    await expect(quota.set('p', bad)).rejects.toMatchObject({ code: 'QUOTA_INVALID' });
    await expect(quota.recount('p', kind, 1)).rejects.toMatchObject({ code: 'QUOTA_INVALID' });
  });

  it.each([-2, 0.5, '1', true, 2 ** 53, 2n ** 63n, -2n, {}, []])('rejects the limit %s', async (limit) => {
    await expect(quota.set('p', { secrets: limit as never })).rejects.toMatchObject({ code: 'QUOTA_INVALID' });
    expect(() =>
      projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: limit as never } }),
    ).toThrow('secrets');
  });

  it.each(['', 'a\0b', '\ud800', 'x'.repeat(513), 5, null, undefined, {}])(
    'rejects the project %j',
    async (project) => {
      const bad = project as never;
      const calls = [quota.reserve(bad, { secrets: 1 }), quota.get(bad), quota.set(bad, {}), quota.usage(bad)];
      for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'QUOTA_INVALID' });
    },
  );

  it('accepts project ids that have a special meaning in other systems', async () => {
    for (const project of ['__proto__', 'constructor', 'a/b', '%00', "'; DROP TABLE x", '{a}']) {
      await quota.consume(project, { secrets: 1 });
      expect((await quota.usage(project)).secrets!.used).toBe(1);
    }
    expect((await quota.usage('other')).secrets!.used).toBe(0);
  });

  it('normalizes limits: -0 is 0, small bigints are numbers, large ones stay exact', async () => {
    await quota.set('p', { secrets: -0, orders: 5n, containers: 2n ** 63n - 1n });
    const entry = await quota.get('p');
    expect(Object.is(entry!.secrets, 0)).toBe(true);
    expect([entry!.orders, entry!.containers]).toEqual([5, 9223372036854775807n]);
  });

  it('rejects unknown options and suggests the similar one', () => {
    expect(() => projectQuotas({ preset: 'key-manager', store: memoryStore(), default: {} } as never)).toThrow(
      'did you mean "defaults"?',
    );
    expect(() => projectQuotas({} as never)).toThrow('a store is required');
    expect(() => projectQuotas({ preset: 'key-manager', store: memoryStore(), ttlMs: 0 })).toThrow('ttlMs must be');
    expect(() => projectQuotas({ store: memoryStore(), kinds: ['a', 'a'] })).toThrow('unique');
    expect(() => projectQuotas({ store: memoryStore(), kinds: [] })).toThrow('At least one');
    expect(() => projectQuotas({ store: memoryStore(), kinds: ['__proto__'] })).toThrow('must consist of a letter');
  });
});

describe('defaultsFrom', () => {
  it('reads quota_ keys from numbers and strings, and leaves the rest unlimited', () => {
    const configuration = { quota_secrets: 10, quota_orders: '-1', quota_cas: '', other: 'x' };
    expect(defaultsFrom(configuration)).toEqual({ secrets: 10, orders: -1, containers: -1, consumers: -1, cas: -1 });
  });

  it.each(['x', '1.5', '-2', '99999999999999999999', true])('rejects the value %j', (value) => {
    expect(() => defaultsFrom({ quota_secrets: value })).toThrow('secrets');
  });

  it('rejects a quota_ key of an unknown kind', () => {
    expect(() => defaultsFrom({ quota_secret: 1 })).toThrow('quota_secret does not name a kind');
  });
});

describe('a failing store', () => {
  const down = new Error('connection lost');
  const broken = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(down) });

  it('causes a QuotaStoreError with the original error as cause', async () => {
    const failing = projectQuotas({ preset: 'key-manager', store: broken });
    for (const call of [failing.reserve('p', { secrets: 1 }), failing.usage('p'), failing.list(), failing.sweep()])
      await expect(call).rejects.toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE', status: 503, cause: down });
  });

  it('counts as failed after its timeout', async () => {
    const silent = new Proxy({} as QuotaStore, { get: () => () => new Promise(() => undefined) });
    const waiting = projectQuotas({ preset: 'key-manager', store: silent, storeTimeoutMs: 20 });
    await expect(waiting.get('p')).rejects.toThrow('did not respond within 20 ms');
  });

  it('leaves a reservation open if its commit fails, for a retry', async () => {
    const memory = memoryStore();
    let fail = true;
    const store: QuotaStore = Object.assign(Object.create(memory) as QuotaStore, {
      reserve: memory.reserve.bind(memory),
      counts: memory.counts.bind(memory),
      getLimits: memory.getLimits.bind(memory),
      settle: (...args: Parameters<QuotaStore['settle']>) => {
        if (fail) throw down;
        return memory.settle(...args);
      },
    });
    const failingQuotas = projectQuotas({ preset: 'key-manager', store });
    const reservation = await failingQuotas.reserve('p', { secrets: 1 });
    await expect(reservation.commit()).rejects.toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
    expect(reservation.open).toBe(true);
    fail = false;
    await reservation.commit();
    expect((await failingQuotas.usage('p')).secrets!.used).toBe(1);
  });
});
