import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createEngine } from '@apistrata/compute-engine';
import { projectQuotas } from '@apistrata/quota';
import { sqlStore } from '@apistrata/quota/sql';
import pg from 'pg';
import { pino } from 'pino';
import { expect, inject, it, onTestFinished } from 'vitest';
import { computeApi, noauth } from '../../src/index.js';
import { freshDatabase } from './fresh-database.js';

/** Locks the tables, so that all other statements wait. Returns a function that unlocks them. */
async function occupy(database: string): Promise<() => Promise<void>> {
  if (inject('database') === 'sqlite') {
    const file = new DatabaseSync(database);
    file.exec('begin exclusive');
    return async () => file.close();
  }
  const client = new pg.Client(database);
  await client.connect();
  await client.query('begin; lock table quota_limits, quota_counters in access exclusive mode');
  return () => client.end();
}

it('returns 503 for project quotas while their database is busy, and logs the cause', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-quotas-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sqlite = inject('database') === 'sqlite';
  const database = sqlite ? join(folder, 'cloud.db') : await freshDatabase(inject('postgresUrl'));
  const engine = await createEngine({ database, worker: false });
  onTestFinished(() => engine.close());
  const store = sqlStore({ database: engine.quotaDatabase });
  await store.createSchema();
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
  const quota = projectQuotas({ preset: 'key-manager', store, storeTimeoutMs: 300 });
  const server = createServer(computeApi({ engine, identity: noauth(), quota, logger }));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = () => fetch(`${url}/v1/quotas`, { headers: { 'X-Auth-Token': 'ada:p1' } });
  expect((await read()).status).toBe(200);
  const leave = await occupy(database);
  const rejected = await read();
  expect(rejected.status).toBe(503);
  expect(rejected.headers.get('retry-after')).toBe('5');
  expect(await rejected.json()).toMatchObject({ code: 503, title: 'Service Unavailable' });
  const logged = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'a request failed');
  expect(logged).toMatchObject({ url: '/v1/quotas', err: { code: 'QUOTA_STORE_UNAVAILABLE' } });
  expect(logged.err.message).toMatch(/did not respond|database/i);
  await leave();
  await expect.poll(async () => (await read()).status).toBe(200);
});
