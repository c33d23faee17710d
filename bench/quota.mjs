// The cost of a quota on each store, compared with one `consume` of rate-limiter-flexible on the same store in the same
// run. With one project and one kind, all requests use the same counter, which is the hardest case for both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { mysql, postgres, sqlite, sqlStore } from '@apistrata/quota/sql';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2';
import pg from 'pg';
import {
  RateLimiterMemory,
  RateLimiterMySQL,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterSQLite,
} from 'rate-limiter-flexible';
import { interleaved } from './samples.mjs';
import { durablePostgres, testServers } from './test-servers.mjs';

const FULL = { rounds: 5, ms: 300, times: 200_000, reservations: 20_000, rejections: 100 };
const QUICK = { rounds: 2, ms: 100, times: 2000, reservations: 1000, rejections: 10 };
const CONCURRENCY = 64;
const UNLIMITED = 1e12;

/** Why a store misses its budget. */
const reasons = { Redis: 'reserving and committing are two requests to Redis; `consume` is one' };
const rejectionReasons = {
  MariaDB: 'a rejection takes several round trips; why it takes longer with many reservations is unknown',
};

/** Returns operations per second with a fixed number of concurrent operations. */
async function rate(operation, lanes, ms) {
  let count = 0;
  const begun = performance.now();
  const lane = async () => {
    while (performance.now() - begun < ms) {
      await operation();
      count++;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return count / ((performance.now() - begun) / 1000);
}

/** Measures an operation of our library and one of the other library alternately, after a warm-up of both. */
async function compare(ours, other, lanes, { rounds, ms }) {
  const measures = [ours, other].map((operation) => (time) => rate(operation, lanes, time));
  for (const measure of measures) await measure(ms / 2);
  return interleaved(rounds, ...measures.map((measure) => () => measure(ms)));
}

/** Returns the microseconds per operation of a sequence that is measured as a whole. */
async function microseconds(operation, times) {
  const begun = process.hrtime.bigint();
  for (let i = 0; i < times; i++) await operation();
  return Number(process.hrtime.bigint() - begun) / 1000 / times;
}

/** Returns a function that measures one rejection, in milliseconds, in a project with a number of reservations. */
async function rejections(store, project, reservations, times) {
  const defaults = { secrets: reservations };
  const quota = projectQuotas({ preset: 'key-manager', store, defaults, ttlMs: 3_600_000, sweepIntervalMs: 0 });
  for (let reserved = 0; reserved < reservations; reserved += 1000) {
    await Promise.all(
      Array.from({ length: Math.min(1000, reservations - reserved) }, () => quota.reserve(project, { secrets: 1 })),
    );
  }
  const reject = () =>
    quota.reserve(project, { secrets: 1 }).then(
      () => Promise.reject(new Error('admitted')),
      () => 0,
    );
  return async () => (await microseconds(reject, times)) / 1000;
}

const points = { points: UNLIMITED, duration: 3600, keyPrefix: 'rlf' };

/**
 * Functions that open one kind of store for both packages: our `store`, and the `limiter` of rate-limiter-flexible.
 * They return undefined if the server of the store is not available on this machine.
 */
const stores = {
  async memory() {
    return { store: memoryStore(), limiter: new RateLimiterMemory(points), close: () => undefined };
  },
  async 'SQLite file'() {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-quota-'));
    const open = (name) => {
      const connection = new Database(join(folder, name));
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = NORMAL');
      return connection;
    };
    const [own, other] = [open('ours.db'), open('theirs.db')];
    const store = sqlStore({ database: sqlite(own) });
    await store.createSchema();
    const limiter = await ready((done) => {
      const options = { ...points, storeClient: other, storeType: 'better-sqlite3', tableName: 'rlf' };
      return new RateLimiterSQLite(options, done);
    });
    const close = () => {
      own.close();
      other.close();
      rmSync(folder, { recursive: true });
    };
    return { store, limiter, close };
  },
  async PostgreSQL() {
    const server = await durablePostgres();
    if (!server) return undefined;
    const [own, other] = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 10 }));
    // `pool.end()` does not wait until the server has closed its sessions, so stopping the server can cause errors
    // on the connections of the pool.
    for (const pool of [own, other]) pool.on('error', () => undefined);
    const store = sqlStore({ database: postgres(own) });
    await retry(() => store.createSchema());
    const limiter = await ready(
      (done) => new RateLimiterPostgres({ ...points, storeClient: other, tableName: 'rlf' }, done),
    );
    const close = async () => {
      await Promise.all([own.end(), other.end()]);
      await server.stop();
    };
    return { store, limiter, close };
  },
  async MariaDB({ startMariadb }) {
    const server = await startMariadb(1);
    if (!server) return undefined;
    const [own, other] = [1, 2].map(() => createPool({ uri: server.url, connectionLimit: 10 }));
    const store = sqlStore({ database: mysql(own.promise()) });
    await store.createSchema();
    const names = { dbName: 'test', tableName: 'rlf' };
    const limiter = await ready((done) => new RateLimiterMySQL({ ...points, storeClient: other, ...names }, done));
    const close = async () => {
      await Promise.all([own, other].map((pool) => pool.promise().end()));
      await server.stop();
    };
    return { store, limiter, close };
  },
  async Redis({ startRedis }) {
    const server = await startRedis();
    if (!server) return undefined;
    const [own, other] = [1, 2].map(() => new Redis(server.url));
    const close = async () => {
      await Promise.all([own.quit(), other.quit()]);
      await server.stop();
    };
    return {
      store: redisStore({ client: own }),
      limiter: new RateLimiterRedis({ ...points, storeClient: other }),
      close,
    };
  },
};

/** Repeats a function until it succeeds: a server that accepts connections may still be starting up. */
async function retry(work, attempts = 100) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function ready(make) {
  return new Promise((resolve, reject) => {
    const limiter = make((error) => (error ? reject(error) : setImmediate(() => resolve(limiter))));
  });
}

export async function run({ quick }) {
  const amounts = quick ? QUICK : FULL;
  const servers = await testServers();
  const rows = [];
  for (const [name, open] of Object.entries(stores)) {
    const opened = await open(servers);
    if (!opened) {
      rows.push({ what: `${name}: not on this machine` });
      continue;
    }
    const { store, limiter, close } = opened;
    const quota = projectQuotas({ preset: 'key-manager', store, defaults: { secrets: UNLIMITED } });
    const reserveAndCommit = async () => (await quota.reserve('p', { secrets: 1 })).commit();
    const once = () => quota.consume('p', { secrets: 1 });
    const otherLibrary = () => limiter.consume('p', 1);
    // In rate-limiter-flexible, a second query releases the amount, but not if the process dies between the two.
    const consumeAndReward = async () => {
      await limiter.consume('p', 1);
      await limiter.reward('p', 1);
    };
    const row = async (what, operation, lanes, budget, [other, called] = [otherLibrary, 'one consume']) => {
      const [ours, baseline] = await compare(operation, other, lanes, amounts);
      rows.push({
        what: `${name}, ${what}, next to ${called}`,
        ours,
        baseline,
        unit: 'op/s',
        budget,
        reason: reasons[name],
      });
    };
    // The goal applies only to shared database servers, and only if both operations send the same number of queries
    // (one or two), which they do not on MariaDB. Both libraries batch concurrent requests.
    const sharedBudget = name === 'PostgreSQL' || name === 'Redis' ? '>= 0.9 x' : undefined;
    await row('consume, one at a time', once, 1, sharedBudget);
    const twoRequests = [consumeAndReward, 'consume + reward'];
    if (name !== 'memory') await row('reserve + commit, one at a time', reserveAndCommit, 1, sharedBudget, twoRequests);
    await row('reserve + commit, one at a time', reserveAndCommit, 1);
    await row(`consume, ${CONCURRENCY} at once`, once, CONCURRENCY, sharedBudget);
    await row(`reserve + commit, ${CONCURRENCY} at once`, reserveAndCommit, CONCURRENCY, sharedBudget);
    if (name === 'memory') {
      const measures = [reserveAndCommit, otherLibrary].map(
        (operation) => () => microseconds(operation, amounts.times),
      );
      // The first round warms up the JIT compiler.
      await interleaved(1, ...measures);
      const [ours, baseline] = await interleaved(amounts.rounds, ...measures);
      const what = 'memory, time of reserve + commit, next to one consume';
      rows.push({ what, ours, baseline, unit: 'us', budget: '<= 2 us' });
    }
    const full = await rejections(store, 'full', amounts.reservations, amounts.rejections);
    const small = await rejections(store, 'small', 1, amounts.rejections);
    await interleaved(1, full, small);
    const [ours, baseline] = await interleaved(amounts.rounds, full, small);
    const what = `${name}, a rejection next to ${amounts.reservations.toLocaleString('en')} reservations, and next to one`;
    rows.push({ what, ours, baseline, unit: 'ms', budget: '< 2 ms', reason: rejectionReasons[name] });
    await close();
  }
  return rows;
}
