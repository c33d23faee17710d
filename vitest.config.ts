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
const LIBRARIES = 'packages/{microversion,microversion-router,quota,request-id,test-cloud}';
const OTHER_PACKAGES = [
  'packages/!(compute-router|record-store|catalogs|compute-engine|microversion|microversion-router|quota|request-id|test-cloud)',
  'examples/*',
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
 * Projects of one group run at the same time; if files of several projects shared processes, each switch would end a
 * process.
 */
const GROUPS = [
  'sqlite',
  'postgres',
  'apart',
  'sqlite-engine',
  'sqlite-packages',
  'long-postgres',
  'long-pgbouncer',
  'long-replica',
  'long',
];

interface Files {
  readonly include: string[];
  readonly exclude?: string[];
  readonly globalSetup?: string[];
}

function project(name: string, group: string, database: keyof typeof TIMEOUTS_MS, files: Files, test: object) {
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
  database: keyof typeof TIMEOUTS_MS,
  { exclude = [], ...files }: Files,
  test = {},
) =>
  project(
    name,
    name,
    database,
    { ...files, exclude: [ISOLATED_TESTS, LONG_TESTS, NODE_MODULES, ...exclude] },
    { isolate: false, ...test },
  );

/** For projects whose tests spend half of their time waiting: for timers, leases, programs, machines or browsers. */
const waiting = { maxWorkers: availableParallelism() + 1 };

/** Test files that each run in a separate process. */
const isolatedProject = (name: string, group: string, database: keyof typeof TIMEOUTS_MS, files: Files) =>
  project(name, group, database, files, waiting);

const inside = (folders: string) => ['src', 'test'].map((part) => `${folders}/${part}/${TESTS}`);

const projects = [
  sharedProject('sqlite', 'sqlite', { include: inside('packages/compute-router') }),
  sharedProject('sqlite-engine', 'sqlite', { include: inside(ENGINE) }, waiting),
  sharedProject('sqlite-packages', 'sqlite', { include: inside(LIBRARIES) }),
  isolatedProject('sqlite-apart', 'apart', 'sqlite', {
    include: [`packages/*/test/apart/${TESTS}`, ...OTHER_PACKAGES.flatMap(inside), `testing/${TESTS}`],
    exclude: [LONG_TESTS, NODE_MODULES],
  }),
  isolatedProject('long', 'long', 'sqlite', {
    include: [`{packages,examples}/*/test/long/${TESTS}`, `testing/long/${TESTS}`],
    exclude: [`${IN_GUEST}/**`, NODE_MODULES],
  }),
  // Within a group, projects start in the order of their names: these files before all other long ones.
  isolatedProject('in-guest-long', 'long', 'sqlite', { include: [`${IN_GUEST}/${TESTS}`] }),
];
/** Tests whose requests do not depend on the database. `npm run test:all` also runs them on PostgreSQL. */
const INDEPENDENT = [`${API}/{hardening,prometheus,proxies,rate-limit,versions}/${TESTS}`, `${API}/*.test.ts`];
const onPostgres = [
  // Tests of identities and policies do not depend on the database, so they run only in the SQLite project.
  sharedProject('postgres', 'postgres', {
    include: [`${API}/${TESTS}`],
    exclude: [`${API}/{identity,policy}/**`, ...INDEPENDENT],
  }),
  sharedProject('long-postgres', 'postgres', { include: INDEPENDENT }),
  isolatedProject('postgres-apart', 'apart', 'postgres', { include: [`${API}/apart/${TESTS}`] }),
  // The tests cover all kinds of reads after writes: lists, pages, and parts of servers.
  sharedProject('long-replica', 'replica', {
    include: [`${API}/servers-{actions,list,parts}/${TESTS}`],
    globalSetup: ['testing/replica-setup.ts'],
  }),
];
// Only the tests of transactions, locks, jobs and quotas, because other operations read and write in the same way.
const onPgBouncer = sharedProject('long-pgbouncer', 'pgbouncer', {
  include: [`${API}/{attachments,infrastructure,quotas,servers-actions,servers-list}/${TESTS}`],
});

export default defineConfig({
  test: {
    globalSetup: ['testing/global-setup.ts'],
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      ...projects,
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
