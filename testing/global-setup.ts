import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPgBouncer, startPostgres, startRedis } from './servers.js';

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
    /** Folder of the programs that tests start; see `bundled-program.ts`. */
    bundles: string;
  }
}

/** Starts the servers that tests share, once per run, and ends them afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const pgbouncer = postgres && (await startPgBouncer(postgres.url));
  for (const [name, server] of Object.entries({ PostgreSQL: postgres, PgBouncer: pgbouncer, Redis: redis })) {
    if (!server) console.warn(`\n*** SKIPPED: every test that needs ${name}: this machine has no ${name} server ***\n`);
  }
  project.provide('postgresUrl', postgres?.url ?? '');
  project.provide('pgbouncerUrl', pgbouncer?.url ?? '');
  project.provide('redisUrl', redis?.url ?? '');
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
    await Promise.all([pgbouncer?.stop(), redis?.stop()]);
    await postgres?.stop();
  };
}
