// One of many processes that share a store. Runs on the built package; its parent sends one job and receives the
// results.
import { Agent, createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { enforceQuota, projectQuotas, QuotaExceeded } from '../dist/index.js';
import { redisStore } from '../dist/redis/index.js';
import { mysql, postgres, sqlStore } from '../dist/sql/index.js';

const stores = {
  postgres({ url, name, storeTimeoutMs }) {
    const pool = new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: storeTimeoutMs });
    pool.on('error', () => undefined);
    return sqlStore({ database: postgres(pool), tablePrefix: name });
  },
  mariadb({ url, name, storeTimeoutMs }) {
    const pool = createPool({ uri: url, connectionLimit: 5, connectTimeout: storeTimeoutMs });
    return sqlStore({ database: mysql(pool), tablePrefix: name });
  },
  redis({ url, name }) {
    const client = new Redis(url);
    client.on('error', () => undefined);
    return redisStore({ client, keyPrefix: name });
  },
};

const jobs = {
  /** Each lane sends HTTP requests until the time is over or one is rejected, then releases if configured. */
  async http({ quota, project, lanes, untilMs, release, workMs, untilRefused }) {
    const enforce = enforceQuota({ quota, kind: 'secrets', project: () => project });
    const server = createServer((req, res) => {
      void enforce(req, res, async () => {
        if (workMs > 0) await sleep(Math.random() * workMs);
        res.writeHead(req.method === 'DELETE' ? 204 : 201).end();
      });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const options = { port: server.address().port, agent: new Agent({ keepAlive: true, maxSockets: lanes }) };
    const statuses = {};
    const run = async () => {
      const end = Date.now() + untilMs;
      while (Date.now() < end) {
        const status = await call('POST');
        if (status === 403 && untilRefused) return;
        // After a rejection or during an outage, requests at full speed are pointless.
        if (status !== 201) await sleep(20);
      }
    };
    const call = (method) =>
      new Promise((resolve, reject) => {
        const sent = request({ ...options, method }, (response) => {
          response.resume().on('end', () => {
            statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
            resolve(response.statusCode);
          });
        });
        sent.on('error', reject).end();
      });
    await Promise.all(Array.from({ length: lanes }, run));
    process.send({ statuses: { ...statuses } });
    if (!release) return;
    await new Promise((resolve) => process.once('message', resolve));
    const deletions = Array.from({ length: statuses[201] ?? 0 }, () => 'DELETE');
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        while (deletions.length > 0) await call(deletions.pop());
      }),
    );
    process.send({ statuses });
  },

  /**
   * Each lane reserves, works for a while, and commits or releases, until it is rejected; reports each commit
   * immediately.
   */
  async direct({ quota, project, lanes, untilMs }) {
    const end = Date.now() + untilMs;
    const lane = async () => {
      while (Date.now() < end) {
        const reservation = await quota.reserve(project, { secrets: 1 });
        await sleep(Math.random() * 30);
        if (Math.random() < 0.3) await reservation.release();
        else {
          await reservation.commit();
          process.send({ committed: 1 });
        }
      }
    };
    const rejection = (error) => {
      if (!(error instanceof QuotaExceeded)) throw error;
    };
    await Promise.all(Array.from({ length: lanes }, () => lane().catch(rejection)));
  },
};

process.once('message', async (job) => {
  const store = stores[job.store](job);
  const quota = projectQuotas({
    preset: 'key-manager',
    store,
    defaults: { secrets: job.limit },
    storeTimeoutMs: job.storeTimeoutMs,
  });
  await jobs[job.via]({ ...job, quota });
  process.send({ done: true });
});
process.once('disconnect', () => process.exit());
process.send({ ready: true });
