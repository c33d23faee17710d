import type { TestProject } from 'vitest/node';
import { startPostgres, startRedis } from './servers.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database that the API's suites use in this run. */
    database: 'sqlite' | 'postgres';
    /** URL of a PostgreSQL for the tests, '' where the machine has none. */
    postgresUrl: string;
    /** URL of a Redis for the tests, '' where the machine has none. */
    redisUrl: string;
  }
}

/** Starts the real servers that tests share, once a run, and ends them after it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  for (const [name, server] of Object.entries({ PostgreSQL: postgres, Redis: redis })) {
    if (!server) console.warn(`\n*** SKIPPED: every test that needs ${name}: this machine has no ${name} server ***\n`);
  }
  project.provide('postgresUrl', postgres?.url ?? '');
  project.provide('redisUrl', redis?.url ?? '');
  return async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  };
}
