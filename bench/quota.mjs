// What a quota costs on each store, beside one `consume` of rate-limiter-flexible on the same store in the same run.
// One project, one kind: all requests want the same counter, which is the hardest case for both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, projectQuotas } from '@apistrata/quota';
import { redisStore } from '@apistrata/quota/redis';
import { postgres, sqlite, sqlStore } from '@apistrata/quota/sql';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRedis, RateLimiterSQLite } from 'rate-limiter-flexible';
import { inTurns } from './samples.mjs';
import { testServers } from './test-servers.mjs';

const FULL = { rounds: 5, ms: 300, times: 200_000, holds: 20_000, refusals: 100 };
const QUICK = { rounds: 2, ms: 100, times: 2000, holds: 1000, refusals: 10 };
const LANES = 64;
const ENOUGH = 1e12;

/** Operations per second with so many under way at a time. */
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

/** Ours and theirs in turns, once both are warm. */
async function compare(ours, theirs, lanes, { rounds, ms }) {
  const measures = [ours, theirs].map((operation) => (time) => rate(operation, lanes, time));
  for (const measure of measures) await measure(ms / 2);
  return inTurns(rounds, ...measures.map((measure) => () => measure(ms)));
}

/** Microseconds of one operation, one after the other, without the cost of measuring each. */
async function microseconds(operation, times) {
  const begun = process.hrtime.bigint();
  for (let i = 0; i < times; i++) await operation();
  return Number(process.hrtime.bigint() - begun) / 1000 / times;
}

/** Measures the milliseconds of one refusal in a project with so many reservations that hold. */
async function refusals(store, project, holds, times) {
  const defaults = { secrets: holds };
  const quota = projectQuotas({ store, defaults, ttlMs: 3_600_000, sweepEveryMs: 0 });
  for (let held = 0; held < holds; held += 1000) {
    await Promise.all(
      Array.from({ length: Math.min(1000, holds - held) }, () => quota.reserve(project, { secrets: 1 })),
    );
  }
  const refuse = () =>
    quota.reserve(project, { secrets: 1 }).then(
      () => Promise.reject(new Error('admitted')),
      () => 0,
    );
  return async () => (await microseconds(refuse, times)) / 1000;
}

const points = { points: ENOUGH, duration: 3600, keyPrefix: 'rlf' };

/** Each store: ours, theirs, and what ends them. Undefined where the machine has no such server. */
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
  async PostgreSQL({ startPostgres }) {
    const server = await startPostgres();
    if (!server) return undefined;
    const [own, other] = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 10 }));
    // Ending a pool says goodbye to the server without waiting for it, which then ends before it has heard.
    for (const pool of [own, other]) pool.on('error', () => undefined);
    const store = sqlStore({ database: postgres(own) });
    await persistently(() => store.createSchema());
    const limiter = await ready(
      (done) => new RateLimiterPostgres({ ...points, storeClient: other, tableName: 'rlf' }, done),
    );
    const close = async () => {
      await Promise.all([own.end(), other.end()]);
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

/** A server that listens may still be starting up. */
async function persistently(work, attempts = 100) {
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
  const much = quick ? QUICK : FULL;
  const servers = await testServers();
  const rows = [];
  for (const [name, open] of Object.entries(stores)) {
    const opened = await open(servers);
    if (!opened) {
      rows.push({ what: `${name}: not on this machine` });
      continue;
    }
    const { store, limiter, close } = opened;
    const quota = projectQuotas({ store, defaults: { secrets: ENOUGH } });
    const both = async () => (await quota.reserve('p', { secrets: 1 })).commit();
    const once = () => quota.consume('p', { secrets: 1 });
    const theirs = () => limiter.consume('p', 1);
    // What was taken may be given back there, too, by a second question; but nobody does it for a process that dies between.
    const twice = async () => {
      await limiter.consume('p', 1);
      await limiter.reward('p', 1);
    };
    const row = async (what, operation, lanes, budget, [other, called] = [theirs, 'one consume']) => {
      const [ours, baseline] = await compare(operation, other, lanes, much);
      rows.push({ what: `${name}, ${what}, beside ${called}`, ours, baseline, unit: 'op/s', budget });
    };
    // The aim is for servers that processes share, and for as many questions as theirs: one beside one, and two beside two. Of
    // what comes at once both ask as seldom as they can.
    const aim = name === 'PostgreSQL' || name === 'Redis' ? '>= 0.9 x' : undefined;
    await row('consume, one at a time', once, 1, aim);
    if (name !== 'memory') await row('reserve + commit, one at a time', both, 1, aim, [twice, 'consume + reward']);
    await row('reserve + commit, one at a time', both, 1);
    await row(`consume, ${LANES} at once`, once, LANES, aim);
    await row(`reserve + commit, ${LANES} at once`, both, LANES, aim);
    if (name === 'memory') {
      const measures = [both, theirs].map((operation) => () => microseconds(operation, much.times));
      // The first round is for the compiler.
      await inTurns(1, ...measures);
      const [ours, baseline] = await inTurns(much.rounds, ...measures);
      const what = 'memory, time of reserve + commit, beside one consume';
      rows.push({ what, ours, baseline, unit: 'us', budget: '<= 2 us' });
    }
    const full = await refusals(store, 'full', much.holds, much.refusals);
    const small = await refusals(store, 'small', 1, much.refusals);
    await inTurns(1, full, small);
    const [ours, baseline] = await inTurns(much.rounds, full, small);
    const what = `${name}, a refusal beside ${much.holds.toLocaleString('en')} reservations, and beside one`;
    rows.push({ what, ours, baseline, unit: 'ms', budget: '< 2 ms' });
    await close();
  }
  return rows;
}
