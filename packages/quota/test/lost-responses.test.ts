import { redisStore } from '@apistrata/quota/redis';
import { postgres, sqlStore } from '@apistrata/quota/sql';
import { Redis, type RedisOptions } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { LIMIT, type Opened, openConnections, quotaOn, testLostResponses, type Ways } from './lost-responses-suite.js';

let opened = 0;

/** @param port the port of a proxy in front of the server */
async function openPostgres(url: string, port?: number): Promise<Opened> {
  const there = new URL(url);
  if (port) there.port = String(port);
  const pool = new pg.Pool({ connectionString: there.href, max: 2 });
  pool.on('error', () => undefined);
  const tablePrefix = `lost_${process.pid}_${port ? opened : ++opened}_`;
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
  const keyPrefix = `{lost-${process.pid}-${port ? opened : ++opened}}:`;
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

testLostResponses({
  name: 'PostgreSQL',
  url: () => inject('postgresUrl'),
  open: openPostgres,
  one: 'apistrata_quota',
  commit: 'COMMIT',
  locks: false,
});

testLostResponses({
  name: 'Redis',
  url: () => inject('redisUrl'),
  open: (url, port) => openRedis(url, port, failing),
  one: 'EVALSHA',
  commit: 'EVALSHA',
  locks: false,
});

describe.skipIf(!inject('redisUrl'))('a Redis client that repeats requests without a reply', () => {
  let connections: Ways;
  beforeEach(async () => {
    connections = await openConnections(inject('redisUrl'), openRedis);
  });
  afterEach(() => connections?.close());
  const secrets = async () => (await quotaOn(connections.full).usage('p')).secrets!;

  it.each([1, 5])('counts %i concurrent requests once each', async (count) => {
    const quota = quotaOn(connections.cut);
    const consumeAll = () => Promise.all(Array.from({ length: count }, () => quota.consume('p', { secrets: 2 })));
    await consumeAll();
    const lost = connections.proxy.cut('response', 'EVALSHA');
    await Promise.all([consumeAll(), lost]);
    expect(await secrets()).toMatchObject({ used: 4 * count, reserved: 0 });
    await consumeAll();
    expect(await secrets()).toMatchObject({ used: 6 * count, reserved: 0 });
  });

  it('counts the request that reaches the limit only once', async () => {
    const quota = quotaOn(connections.cut);
    await quota.consume('p', { secrets: 1 });
    const lost = connections.proxy.cut('response', 'EVALSHA');
    await Promise.all([quota.consume('p', { secrets: LIMIT - 1 }), lost]);
    expect(await secrets()).toMatchObject({ used: LIMIT, reserved: 0 });
  });
});
