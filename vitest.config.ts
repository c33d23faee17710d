import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findProgram } from './testing/servers.js';

const report = process.env.VITEST_REPORT;

const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // Processes that share a PostgreSQL database need the same key; those that tests start inherit it.
  env: { APISTRATA_SECRET_KEY: `${'A'.repeat(43)}=` },
};
const resolution = {
  resolve: { conditions: ['@apistrata/source'] },
  ssr: { resolve: { conditions: ['@apistrata/source', 'node'] } },
};

/** The API's own suites: each of them runs on every database, see `packages/compute-router/test/api-under-test.ts`. */
const api = 'packages/compute-router/test/**/*.test.ts';

const sqlite = {
  ...resolution,
  test: {
    ...shared,
    name: 'sqlite',
    include: [
      'packages/*/{src,test}/**/*.test.ts',
      'examples/*/{src,test}/**/*.test.ts',
      'testing/**/*.test.ts',
      // Conversations with other people's clients that take minutes: `npm run clients`.
      ...(process.env.CLIENTS ? ['packages/test-cloud/test/clients/*.clients.ts'] : []),
    ],
    provide: { database: 'sqlite' as const },
  },
};

const postgres = {
  ...resolution,
  test: {
    ...shared,
    // A round trip for every statement: what takes seconds in memory takes its time here, on a busy machine above all.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    name: 'postgres',
    include: [api],
    // What the router does without an engine.
    exclude: ['packages/compute-router/test/{identity,policy}/**'],
    provide: { database: 'postgres' as const },
  },
};

const pgbouncer = {
  ...postgres,
  test: {
    ...postgres.test,
    name: 'pgbouncer',
    // Transactions, locks, jobs and quotas; what else there is reads and writes as these do.
    include: ['servers-basic', 'project-quotas', 'attachments/*', 'servers-actions/endings', 'infrastructure/*'].map(
      (name) => `packages/compute-router/test/${name}.test.ts`,
    ),
    provide: { database: 'pgbouncer' as const },
  },
};

const onPostgres = findProgram('pgbouncer') ? [postgres, pgbouncer] : [postgres];

export default defineConfig({
  test: {
    globalSetup: ['testing/global-setup.ts'],
    // Most files wait for others half of the time: databases, programs, browsers.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: findProgram('initdb') ? [sqlite, ...onPostgres] : [sqlite],
    reporters: ['default', './testing/slowest-files.ts', ...(report ? ['json'] : [])],
    ...(report && { outputFile: { json: report } }),
  },
});
