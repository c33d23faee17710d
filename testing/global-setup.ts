import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { hasMariadb, startMariadb, startPgBouncer, startPostgres, startRedis, type TestServer } from './servers.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database that the API's suites use in this run. */
    database: 'sqlite' | 'postgres' | 'pgbouncer' | 'replica';
    /** URL of a PostgreSQL server for the tests; '' if it is not installed. */
    postgresUrl: string;
    /** The same PostgreSQL server behind PgBouncer; '' if it is not installed. */
    pgbouncerUrl: string;
    /** URL of a Redis server for the tests; '' if it is not installed. */
    redisUrl: string;
    /** Address that starts MariaDB at the first request, and returns its URL; '' if it is not installed. */
    mariadbStarter: string;
    /** Folder of the programs that tests start; see `bundled-program.ts`. */
    bundles: string;
  }
}

/** Serves the URL of a MariaDB that starts at the first request: its start is slow, and few tests need it. */
async function serveMariadb() {
  let started: Promise<TestServer | undefined> | undefined;
  const server = createServer(async (_req, res) => {
    started ??= startMariadb();
    const { url } = (await started.catch((error) => ({ url: `MariaDB does not start: ${error}` }))) ?? {};
    res.end(url);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    await (await started?.catch(() => undefined))?.stop();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Starts the servers that tests share, once per run, and ends them afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const pgbouncer = postgres && (await startPgBouncer(postgres.url));
  const mariadb = hasMariadb() ? await serveMariadb() : undefined;
  const servers = { PostgreSQL: postgres, PgBouncer: pgbouncer, Redis: redis, MariaDB: mariadb };
  for (const [name, server] of Object.entries(servers)) {
    if (!server) console.warn(`\n*** SKIPPED: every test that needs ${name}: this machine has no ${name} server ***\n`);
  }
  project.provide('postgresUrl', postgres?.url ?? '');
  project.provide('pgbouncerUrl', pgbouncer?.url ?? '');
  project.provide('redisUrl', redis?.url ?? '');
  project.provide('mariadbStarter', mariadb?.url ?? '');
  const bundles = mkdtempSync(join(tmpdir(), 'apistrata-bundles-'));
  project.provide('bundles', bundles);
  project.onTestsRerun(async () => {
    // Sources have changed.
    rmSync(bundles, { recursive: true });
    mkdirSync(bundles);
  });
  const { fsModuleCachePath: modules } = project.config.experimental;
  return async () => {
    for (const folder of [bundles, modules]) if (folder) rmSync(folder, { recursive: true, force: true });
    await Promise.all([pgbouncer?.stop(), redis?.stop(), mariadb?.stop()]);
    await postgres?.stop();
  };
}
