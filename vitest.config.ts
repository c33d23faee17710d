import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
// @ts-expect-error: scripts have no types
import { isCurrentNode, NEEDED_NODE } from './scripts/tools.mjs';
import { CONDITION_TIMEOUT_MS } from './testing/condition-timeout.js';
import { findProgram } from './testing/servers.js';

if (!isCurrentNode())
  throw new Error(
    `Node ${process.versions.node} is too old for the tests: they need ${NEEDED_NODE.join('.')} or newer. \`npm test -- FILES\` fetches a current Node and runs them with it.`,
  );

const report = process.env.VITEST_REPORT;

/**
 * The folders of tests. A file belongs to the project of its folder; `testing/test-suites.test.ts` checks that it is in
 * one suite.
 */
const API = 'packages/compute-router/test';
const ENGINE = 'packages/{record-store,catalogs,compute-engine}';
const SHARED_PACKAGES = [
  'packages/{explorer,microversion,microversion-router,quota,request-id,test-cloud}',
  'examples/reference-server',
];
const OTHER_PACKAGES = [
  'packages/!(compute-router|record-store|catalogs|compute-engine|explorer|microversion|microversion-router|quota|request-id|test-cloud)',
  'examples/!(reference-server)',
];
const TESTS = '**/*.test.ts';
/**
 * Tests that change their process permanently, for instance by replacing modules, or that mostly wait for programs.
 * Each of these files runs in a separate process.
 */
const ISOLATED_TESTS = '**/test/apart/**';
/**
 * The tests that only `npm run test:all` runs: virtual machines, unmodified clients, killed processes, load,
 * published packages.
 */
const LONG_TESTS = '**/{test,testing}/long/**';
/** Tests that take minutes in a virtual machine in which each instruction is emulated. */
const IN_GUEST = 'packages/qemu/test/long/in-guest';
const NODE_MODULES = '**/node_modules/**';

// On PostgreSQL, every statement is a round trip, so work that takes seconds in memory is slow, especially on a busy
// machine.
const TIMEOUTS_MS = { sqlite: 120_000, postgres: 180_000, pgbouncer: 180_000, replica: 180_000 } as const;

/**
 * The groups run one after the other, so that the load of the long tests does not delay the others. Within a group, a
 * worker continues with the next project as soon as no file of the previous one is left.
 */
const GROUPS = ['short', 'long'] as const;
type Group = (typeof GROUPS)[number];

interface Files {
  readonly include: string[];
  readonly exclude?: string[];
  readonly globalSetup?: string[];
}

/**
 * The other supported major versions of the frameworks. In the packages, the names refer to Fastify 5, Koa 3, the Node adapter 2
 * for Hono, and NestJS 11.
 */
const OTHER_FRAMEWORKS = [
  { find: /^fastify$/, replacement: 'fastify4' },
  { find: /^koa$/, replacement: 'koa2' },
  { find: /^@hono\/node-server$/, replacement: 'hono-node-server1' },
  { find: /^(@nestjs\/.*)$/, replacement: join(import.meta.dirname, 'node_modules/$1/index.js') },
];

function project(name: string, group: Group, database: keyof typeof TIMEOUTS_MS, files: Files, test: object = {}) {
  const timeouts = { testTimeout: TIMEOUTS_MS[database], hookTimeout: TIMEOUTS_MS[database] };
  return {
    resolve: { conditions: ['@apistrata/source'] },
    ssr: { resolve: { conditions: ['@apistrata/source', 'node'] } },
    test: {
      ...files,
      ...timeouts,
      ...test,
      name,
      pool: 'forks' as const,
      expect: { poll: { timeout: CONDITION_TIMEOUT_MS } },
      // Processes that share a PostgreSQL database need the same key; those that tests start inherit it.
      env: { APISTRATA_SECRET_KEY: `${'A'.repeat(43)}=` },
      sequence: { groupOrder: GROUPS.indexOf(group) },
      provide: { database },
    },
  };
}

/**
 * Files that run sequentially in the same processes, because loading the API or the engine takes longer than most files
 * take to run.
 */
const sharedProject = (
  name: string,
  group: Group,
  database: keyof typeof TIMEOUTS_MS,
  { exclude = [], ...files }: Files,
) =>
  project(
    name,
    group,
    database,
    { ...files, exclude: [ISOLATED_TESTS, LONG_TESTS, NODE_MODULES, ...exclude] },
    { isolate: false },
  );

const unitTestsOf = (folders: string) => `${folders}/src/${TESTS}`;
const otherTestsOf = (folders: string) => `${folders}/test/${TESTS}`;
const inside = (folders: string) => [unitTestsOf(folders), otherTestsOf(folders)];

const projects = [
  sharedProject('sqlite', 'short', 'sqlite', { include: inside('packages/compute-router') }),
  sharedProject('sqlite-engine', 'short', 'sqlite', { include: inside(ENGINE) }),
  sharedProject('sqlite-packages', 'short', 'sqlite', {
    include: [...SHARED_PACKAGES.flatMap(inside), ...OTHER_PACKAGES.map(unitTestsOf)],
  }),
  project('sqlite-apart', 'short', 'sqlite', {
    include: [`packages/*/test/apart/${TESTS}`, ...OTHER_PACKAGES.map(otherTestsOf), `testing/${TESTS}`],
    exclude: [LONG_TESTS, NODE_MODULES],
  }),
  project('long', 'long', 'sqlite', {
    include: [`{packages,examples}/*/test/long/${TESTS}`, `testing/long/${TESTS}`],
    exclude: [`${IN_GUEST}/**`, NODE_MODULES],
  }),
  // Within a group, projects start in the order of their names: these files before all other long ones.
  project('in-guest-long', 'long', 'sqlite', { include: [`${IN_GUEST}/${TESTS}`] }),
];
/** Tests whose requests do not depend on the database. `npm run test:all` also runs them on PostgreSQL. */
const INDEPENDENT = [`${API}/{hardening,prometheus,proxies,rate-limit,versions}/${TESTS}`, `${API}/*.test.ts`];
const onOtherFrameworks = {
  ...project('other-frameworks', 'short', 'sqlite', { include: ['packages/*/test/frameworks.test.ts'] }),
  resolve: { conditions: ['@apistrata/source'], alias: OTHER_FRAMEWORKS },
};
const onPostgres = [
  // Tests of identities and policies do not depend on the database, so they run only in the SQLite project.
  sharedProject('postgres', 'short', 'postgres', {
    include: [`${API}/${TESTS}`],
    exclude: [`${API}/{identity,policy}/**`, ...INDEPENDENT],
  }),
  sharedProject('long-postgres', 'short', 'postgres', { include: INDEPENDENT }),
  project('postgres-apart', 'short', 'postgres', { include: [`${API}/apart/${TESTS}`] }),
  // The tests cover all kinds of reads after writes: lists, pages, and parts of servers.
  sharedProject('long-replica', 'long', 'replica', {
    include: [`${API}/servers-{actions,list,parts}/${TESTS}`],
    globalSetup: ['testing/replica-setup.ts'],
  }),
];
// Only the tests of transactions, locks, jobs and quotas, because other operations read and write in the same way.
const onPgBouncer = sharedProject('long-pgbouncer', 'long', 'pgbouncer', {
  include: [`${API}/{attachments,infrastructure,quotas,servers-actions,servers-list}/${TESTS}`],
});

export default defineConfig({
  test: {
    globalSetup: ['testing/global-setup.ts'],
    // Many tests wait: for the database, timers, leases, programs, machines or browsers.
    maxWorkers: availableParallelism() + 1,
    projects: [
      ...projects,
      onOtherFrameworks,
      ...(findProgram('initdb') ? onPostgres : []),
      ...(findProgram('initdb') && findProgram('pgbouncer') ? [onPgBouncer] : []),
    ],
    // All projects share transformed modules; the global set-up deletes them afterwards.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(tmpdir(), `apistrata-modules-${process.pid}`) },
    // Removing the remains of many files takes time.
    teardownTimeout: 60_000,
    reporters: ['./testing/run-progress.ts', ...(report ? ['json' as const] : [])],
    ...(report && { outputFile: { json: report } }),
  },
});
