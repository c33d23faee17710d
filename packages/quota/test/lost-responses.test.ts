import { type Amounts, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { postgres, sqlStore } from '@apistrata/quota/sql';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CONDITION_TIMEOUT_MS } from '../../../testing/condition-timeout.js';
import { eventually } from '../../../testing/eventually.js';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.js';

const LIMIT = 100;
const unavailable = { code: 'QUOTA_STORE_UNAVAILABLE' };

interface Opened {
  readonly store: QuotaStore;
  /** The number of operations that were undone, or forbidden before their execution. */
  readonly undone: () => Promise<number>;
  readonly close: () => unknown;
}

let opened = 0;

/** @param port the port of a proxy in front of the server */
async function openPostgres(url: string, port?: number): Promise<Opened> {
  const there = new URL(url);
  if (port) there.port = String(port);
  const pool = new pg.Pool({ connectionString: there.href, max: 2 });
  pool.on('error', () => undefined);
  const tablePrefix = `lost_${process.pid}_${opened}_`;
  const store = sqlStore({ database: postgres(pool), tablePrefix });
  if (!port) await store.createSchema();
  const undone = async () => {
    const { rows } = await pool.query(`SELECT count(*) AS count FROM ${tablePrefix}receipts WHERE undone`);
    return Number(rows[0].count);
  };
  return { store, undone, close: () => pool.end() };
}

async function openRedis(url: string, port?: number, options: RedisOptions = {}): Promise<Opened> {
  const there = new URL(url);
  if (port) there.port = String(port);
  const client = new Redis(there.href, { retryStrategy: () => 20, ...options });
  client.on('error', () => undefined);
  const keyPrefix = `{lost-${process.pid}-${opened}}:`;
  const store = redisStore({ client, keyPrefix });
  const undone = async () => {
    const keys = await client.keys(`${keyPrefix}receipts:*`);
    const last = await Promise.all(keys.map((key) => client.hget(key, 'last')));
    return last.filter((number) => number === String(Number.MAX_SAFE_INTEGER)).length;
  };
  return { store, undone, close: () => client.quit() };
}

/** A client that reports a lost connection immediately instead of resending. */
const failing: RedisOptions = { maxRetriesPerRequest: 0 };

/** With a text in the request of a single operation, and one in the end of a transaction. */
const stores = [
  { name: 'PostgreSQL', url: inject('postgresUrl'), open: openPostgres, one: 'apistrata_quota', commit: 'COMMIT' },
  {
    name: 'Redis',
    url: inject('redisUrl'),
    open: (url: string, port?: number) => openRedis(url, port, failing),
    one: 'EVALSHA',
    commit: 'EVALSHA',
  },
];

let proxy: CuttingProxy;
let cut: Opened;
let full: Opened;

async function begin(url: string, open: (url: string, port?: number) => Promise<Opened>) {
  opened++;
  proxy = await cuttingProxy(Number(new URL(url).port));
  full = await open(url);
  cut = await open(url, proxy.port);
}
afterEach(async () => {
  await cut?.close();
  await full?.close();
  await proxy?.close();
});

const quotaOn = ({ store }: Opened) =>
  projectQuotas({ preset: 'key-manager', store, defaults: { secrets: LIMIT, orders: 5 }, sweepEveryMs: 0 });
const secrets = async () => (await quotaOn(full).usage('p')).secrets!;
const orders = async () => (await quotaOn(full).usage('p')).orders!;

describe.each(stores)('a connection to $name that is cut', ({ url, open, one, commit }) => {
  beforeEach(async (context) => {
    if (!url) return context.skip('this server is not available on this machine');
    await begin(url, open);
    // Connects, creates the counters, and prepares or loads everything that is loaded on first use.
    const quota = quotaOn(cut);
    for (let turn = 0; turn < 2; turn++) await quota.consume('p', { secrets: 1 });
    await Promise.all([quota.consume('q', { secrets: 1 }), quota.consume('q', { orders: 1 })]);
    await loseResponse({ orders: 1 });
  });

  /** Runs one more operation whose result is lost, until it is undone. */
  async function loseResponse(amounts: Amounts) {
    const before = await full.undone();
    const lost = proxy.cut('response', one);
    await expect(quotaOn(cut).consume('p', amounts)).rejects.toMatchObject(unavailable);
    await lost;
    await expect.poll(full.undone, { timeout: CONDITION_TIMEOUT_MS }).toBe(before + 1);
  }

  it('before the response leaves no usage of a consume', async () => {
    await loseResponse({ secrets: 3 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await loseResponse({ secrets: 4 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await quotaOn(cut).consume('p', { secrets: LIMIT - 2 });
    expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
  });

  it('before the response leaves no usage of several kinds', async () => {
    const lost = proxy.cut('response', commit);
    await expect(quotaOn(cut).consume('p', { secrets: 3, orders: 2 })).rejects.toMatchObject(unavailable);
    await lost;
    await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
  });

  it('before the response leaves no usage of many consumes, and rejected ones stay rejected', async () => {
    const quota = quotaOn(cut);
    const lost = proxy.cut('response', commit);
    const many = Array.from({ length: 10 }, () => quota.consume('p', { secrets: 2, orders: 1 }));
    const outcomes = await Promise.allSettled(many);
    await lost;
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
  });

  it('before the response of an undo does not undo twice', async () => {
    const first = proxy.cut('response', one);
    const failed = expect(quotaOn(cut).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    await first;
    const second = proxy.cut('response', commit);
    await failed;
    await second;
    // Operations are undone sequentially: when this one is undone, so are all before it.
    await loseResponse({ orders: 1 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
  });

  it('before the server receives the request prevents its later execution', async () => {
    const lost = proxy.cut('question', one);
    await expect(quotaOn(cut).consume('p', { secrets: 3 })).rejects.toMatchObject(unavailable);
    await lost;
    await expect.poll(full.undone, { timeout: CONDITION_TIMEOUT_MS }).toBe(2);
    await proxy.deliver();
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await quotaOn(cut).consume('p', { secrets: 1 });
    expect(await secrets()).toMatchObject({ used: 3, reserved: 0 });
  });
});

describe.skipIf(!inject('redisUrl'))('a Redis client that resends requests without a reply', () => {
  const url = inject('redisUrl')!;
  beforeEach(() => begin(url, openRedis));

  it.each([1, 5])('counts %i concurrent requests once each', async (count) => {
    const quota = quotaOn(cut);
    const consumeAll = () => Promise.all(Array.from({ length: count }, () => quota.consume('p', { secrets: 2 })));
    await consumeAll();
    const lost = proxy.cut('response', 'EVALSHA');
    await Promise.all([consumeAll(), lost]);
    expect(await secrets()).toMatchObject({ used: 4 * count, reserved: 0 });
    await consumeAll();
    expect(await secrets()).toMatchObject({ used: 6 * count, reserved: 0 });
  });

  it('counts the request that reaches the limit only once', async () => {
    const quota = quotaOn(cut);
    await quota.consume('p', { secrets: 1 });
    const lost = proxy.cut('response', 'EVALSHA');
    await Promise.all([quota.consume('p', { secrets: LIMIT - 1 }), lost]);
    expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
  });
});
