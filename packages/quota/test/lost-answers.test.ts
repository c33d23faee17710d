import { type Amounts, projectQuotas, type QuotaStore } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { postgres, sqlStore } from '@apistrata/quota/sql';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { PATIENCE_MS } from '../../../testing/patience.js';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.js';

const LIMIT = 100;
const unavailable = { code: 'QUOTA_STORE_UNAVAILABLE' };

interface Opened {
  readonly store: QuotaStore;
  /** How many acts have been undone, or forbidden before they were done. */
  readonly undone: () => Promise<number>;
  readonly close: () => unknown;
}

let opened = 0;

/** @param port where the server is thought to be */
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

/** A client that tells of a lost connection at once, instead of sending again. */
const failing: RedisOptions = { maxRetriesPerRequest: 0 };

/** With what a question about one request holds, and one that ends a transaction. */
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
let whole: Opened;

async function begin(url: string, open: (url: string, port?: number) => Promise<Opened>) {
  opened++;
  proxy = await cuttingProxy(Number(new URL(url).port));
  whole = await open(url);
  cut = await open(url, proxy.port);
}
afterEach(async () => {
  await cut?.close();
  await whole?.close();
  await proxy?.close();
});

const quotaOn = ({ store }: Opened) =>
  projectQuotas({ store, defaults: { secrets: LIMIT, orders: 5 }, sweepEveryMs: 0 });
const secrets = async () => (await quotaOn(whole).usage('p')).secrets!;
const orders = async () => (await quotaOn(whole).usage('p')).orders!;

describe.each(stores)('a connection to $name that is cut', ({ url, open, one, commit }) => {
  beforeEach(async (context) => {
    if (!url) return context.skip('no such server on this machine');
    await begin(url, open);
    // Connects, and makes the counters; and whatever is prepared or loaded on first use is there.
    const quota = quotaOn(cut);
    for (let turn = 0; turn < 2; turn++) await quota.consume('p', { secrets: 1 });
    await Promise.all([quota.consume('q', { secrets: 1 }), quota.consume('q', { orders: 1 })]);
    await loseOne({ orders: 1 });
  });

  /** One more act of which the answer is lost, until it is undone. */
  async function loseOne(amounts: Amounts) {
    const before = await whole.undone();
    const lost = proxy.cut('answer', one);
    await expect(quotaOn(cut).consume('p', amounts)).rejects.toMatchObject(unavailable);
    await lost;
    await expect.poll(whole.undone, { timeout: PATIENCE_MS }).toBe(before + 1);
  }

  it('between doing and answering leaves nothing of a consume', async () => {
    await loseOne({ secrets: 3 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await loseOne({ secrets: 4 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await quotaOn(cut).consume('p', { secrets: LIMIT - 2 });
    expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
  });

  it('between doing and answering leaves nothing of several kinds', async () => {
    const lost = proxy.cut('answer', commit);
    await expect(quotaOn(cut).consume('p', { secrets: 3, orders: 2 })).rejects.toMatchObject(unavailable);
    await lost;
    await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
  });

  it('between doing and answering leaves nothing of many consumes, and what was refused stays so', async () => {
    const quota = quotaOn(cut);
    const lost = proxy.cut('answer', commit);
    const many = Array.from({ length: 10 }, () => quota.consume('p', { secrets: 2, orders: 1 }));
    const outcomes = await Promise.allSettled(many);
    await lost;
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await eventually(async () => expect([await secrets(), await orders()]).toMatchObject([{ used: 2 }, { used: 0 }]));
  });

  it('between undoing and answering undoes once', async () => {
    const first = proxy.cut('answer', one);
    const failed = expect(quotaOn(cut).consume('p', { secrets: 1 })).rejects.toMatchObject(unavailable);
    await first;
    const second = proxy.cut('answer', commit);
    await failed;
    await second;
    // Acts are undone one after the other: when this one is, all before it are through.
    await loseOne({ orders: 1 });
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
  });

  it('before the server has the question: what was undone is not done later', async () => {
    const lost = proxy.cut('question', one);
    await expect(quotaOn(cut).consume('p', { secrets: 3 })).rejects.toMatchObject(unavailable);
    await lost;
    await expect.poll(whole.undone, { timeout: PATIENCE_MS }).toBe(2);
    await proxy.deliver();
    expect(await secrets()).toMatchObject({ used: 2, reserved: 0 });
    await quotaOn(cut).consume('p', { secrets: 1 });
    expect(await secrets()).toMatchObject({ used: 3, reserved: 0 });
  });
});

describe.skipIf(!inject('redisUrl'))('a client of Redis that sends again what it has no answer to', () => {
  const url = inject('redisUrl')!;
  beforeEach(() => begin(url, openRedis));

  it.each([1, 5])('counts %i at once one time each', async (count) => {
    const quota = quotaOn(cut);
    const consumeAll = () => Promise.all(Array.from({ length: count }, () => quota.consume('p', { secrets: 2 })));
    await consumeAll();
    const lost = proxy.cut('answer', 'EVALSHA');
    await Promise.all([consumeAll(), lost]);
    expect(await secrets()).toMatchObject({ used: 4 * count, reserved: 0 });
    await consumeAll();
    expect(await secrets()).toMatchObject({ used: 6 * count, reserved: 0 });
  });

  it('counts one time what filled the limit, too', async () => {
    const quota = quotaOn(cut);
    await quota.consume('p', { secrets: 1 });
    const lost = proxy.cut('answer', 'EVALSHA');
    await Promise.all([quota.consume('p', { secrets: LIMIT - 1 }), lost]);
    expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
  });
});
