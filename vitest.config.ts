import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
// @ts-expect-error: scripts have no types
import { isCurrentNode, NEEDED_NODE } from './scripts/tools.mjs';
import LongestFirst from './testing/longest-first.js';
import { PATIENCE_MS } from './testing/patience.js';
import { findProgram } from './testing/servers.js';

if (!isCurrentNode())
  throw new Error(
    `Node ${process.versions.node} is too old for the tests: they need ${NEEDED_NODE.join('.')} or newer. \`npm test -- FILES\` fetches a current Node and runs them with it.`,
  );

const report = process.env.VITEST_REPORT;

const shared = {
  pool: 'forks' as const,
  expect: { poll: { timeout: PATIENCE_MS } },
  // Processes that share a PostgreSQL database need the same key; those that tests start inherit it.
  env: { APISTRATA_SECRET_KEY: `${'A'.repeat(43)}=` },
  // Where nobody watches: a test that only passes at its second attempt is listed at the end, with what was wrong.
  retry: Number(process.env.VITEST_RETRY ?? 0),
};
const resolution = {
  resolve: { conditions: ['@apistrata/source'] },
  ssr: { resolve: { conditions: ['@apistrata/source', 'node'] } },
};

/**
 * The API's own suites: each of them runs on every database, see `packages/compute-router/test/api-under-test.ts`. Their files
 * follow each other in the same processes, for loading the API takes longer than most of them: none of them may change
 * anything of its process for good.
 */
const api = 'packages/compute-router/test/**/*.test.ts';
/** Those that put something else in the place of modules, of tables, or of what runs statements. */
const otherApis = [
  'packages/compute-router/test/database-trouble/failing-statements.test.ts',
  'packages/compute-router/test/adding-a-microversion.test.ts',
  'packages/compute-router/test/servers-actions/adding-an-action.test.ts',
];
/** Those of the engine and of the packages below it, in shared processes, too: but for those that replace modules or parts of Node. */
const engine = 'packages/{record-store,catalogs,compute-engine}/{src,test}/**/*.test.ts';
const otherEngines = [
  'packages/compute-engine/test/{dying-process,hosts/killed-hosts,model/conflicting-actions,model/random-walk}.test.ts',
  'packages/record-store/test/{sqlite/sqlite-handle,record-cache}.test.ts',
  'packages/compute-engine/src/secrets/sealer-for.test.ts',
];
/** What the router does without an engine, and what depends on the version alone; on one kind. */
const onOneKind = ['{identity,policy}/**', 'contract/views.test.ts'].map(
  (files) => `packages/compute-router/test/${files}`,
);
/** Those of the small packages and of the test cloud's services, in shared processes, too. */
const packages = [
  'packages/{microversion,quota,request-id}/{src,test}/**/*.test.ts',
  'packages/test-cloud/src/**/*.test.ts',
  'packages/test-cloud/test/{contract,services}/*.test.ts',
  'packages/test-cloud/test/{control,docs-pages,recording,scripted,start-cloud,state,transient}.test.ts',
];
const rest = [
  'packages/!(compute-router|compute-engine|record-store|catalogs|microversion|quota|request-id|test-cloud)/{src,test}/**/*.test.ts',
  'packages/test-cloud/test/**/*.test.ts',
  'packages/compute-router/src/**/*.test.ts',
  'examples/*/{src,test}/**/*.test.ts',
  'testing/**/*.test.ts',
  // Conversations with other people's clients that take minutes: `npm run clients`.
  ...(process.env.CLIENTS ? ['packages/test-cloud/test/clients/*.clients.ts'] : []),
];

// A round trip for every statement: what takes seconds in memory takes its time on PostgreSQL, on a busy machine above all.
const TIMEOUTS_MS = { sqlite: 120_000, postgres: 180_000, pgbouncer: 180_000, replica: 180_000 } as const;

/** The group of the files that have a process each. */
const APART = 2;

/** Files that run on a database; those that share processes are kept from alternating with others, which would end them. */
function project(name: string, database: keyof typeof TIMEOUTS_MS, groupOrder: number, files: object) {
  const timeouts = { testTimeout: TIMEOUTS_MS[database], hookTimeout: TIMEOUTS_MS[database] };
  const test = { ...shared, ...timeouts, ...files, name, sequence: { groupOrder }, provide: { database } };
  // Most of these wait for others half of the time: programs, machines, browsers.
  if (groupOrder === APART) return { ...resolution, test: { ...test, maxWorkers: availableParallelism() + 1 } };
  return { ...resolution, test };
}

const together = { include: [api], exclude: otherApis, isolate: false };
const sqlite = [
  project('sqlite', 'sqlite', 0, together),
  project('sqlite-engine', 'sqlite', 3, { include: [engine], exclude: otherEngines, isolate: false }),
  project('sqlite-packages', 'sqlite', 4, { include: packages, isolate: false }),
  project('sqlite-apart', 'sqlite', APART, {
    include: [...rest, ...otherApis, ...otherEngines],
    exclude: [...packages, '**/node_modules/**'],
  }),
];
const postgres = [
  project('postgres', 'postgres', 1, { ...together, exclude: [...otherApis, ...onOneKind] }),
  project('postgres-apart', 'postgres', APART, { include: otherApis }),
];
const pgbouncer = project('pgbouncer', 'pgbouncer', APART, {
  // Transactions, locks, jobs and quotas; what else there is reads and writes as these do.
  include: ['servers-basic', 'project-quotas', 'attachments/*', 'servers-actions/endings', 'infrastructure/*'].map(
    (name) => `packages/compute-router/test/${name}.test.ts`,
  ),
});
const replica = project('replica', 'replica', APART, {
  globalSetup: ['testing/replica-setup.ts'],
  // What is read after it was written, in all the ways there are: lists, pages, parts of servers.
  include: ['servers-basic', 'servers-list/*', 'servers-parts/{metadata,network,tags}', 'servers-actions/endings'].map(
    (name) => `packages/compute-router/test/${name}.test.ts`,
  ),
});
const onPostgres = [...postgres, ...(findProgram('pgbouncer') ? [pgbouncer] : []), replica];

export default defineConfig({
  test: {
    globalSetup: ['testing/global-setup.ts'],
    // Most files wait for others half of the time: databases, programs, browsers.
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [...sqlite, ...(findProgram('initdb') ? onPostgres : [])],
    // Projects transform a module once together; the global set-up takes them away again.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(tmpdir(), `apistrata-modules-${process.pid}`) },
    // What many files have left behind takes its time.
    teardownTimeout: 60_000,
    reporters: ['default', './testing/slowest-files.ts', './testing/second-attempts.ts', ...(report ? ['json'] : [])],
    ...(report && { outputFile: { json: report } }),
  },
});
