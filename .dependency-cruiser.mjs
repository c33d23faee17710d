// The direction of imports, as docs/architecture.md describes it: `npm run imports` checks it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The packages of this repository that each package may import. */
export const PACKAGES = {
  microversion: [],
  'microversion-router': ['microversion'],
  'request-id': [],
  healthcheck: [],
  quota: ['microversion'],
  'record-store': [],
  catalogs: ['record-store'],
  'compute-engine': ['record-store', 'catalogs', 'quota'],
  'compute-router': ['microversion', 'microversion-router', 'request-id', 'healthcheck', 'quota', 'compute-engine'],
  ui: [],
  explorer: ['microversion', 'microversion-router', 'ui'],
  qemu: ['compute-engine'],
  testcontainers: [],
  'test-cloud': ['compute-router', 'compute-engine', 'explorer', 'request-id', 'microversion', 'ui'],
};

/** The modules of the engine that use actions: creation and lists of servers, and the service of each resource. */
const SERVICES = ['servers/create', 'servers/list', 'servers/servers.ts', 'resources/usage/usage.ts', 'engine'];

/** The folders and files of the engine, and the layers above them, which they must not import. */
const ABOVE = {
  model: ['schema', 'jobs', 'actions', ...SERVICES],
  schema: ['jobs', 'core/core.ts', 'actions', 'servers', 'resources', 'hosts', 'engine'],
  jobs: ['core/core.ts', 'actions', ...SERVICES],
  'core/core.ts': ['actions', ...SERVICES],
  scheduler: ['actions', ...SERVICES],
  'resources/quotas/server-quota.ts': ['actions', ...SERVICES],
  'servers/volumes/server-volumes.ts': ['actions', ...SERVICES],
  'servers/interfaces/server-ports.ts': ['actions', ...SERVICES],
  'server-migrations/migration-record.ts': ['actions', ...SERVICES],
  'actions/runner': ['create', 'moves', 'power', 'volumes', 'action-table.ts']
    .map((name) => `actions/${name}`)
    .concat(SERVICES),
  actions: SERVICES,
};

const TESTS = '[.]test[.]ts$|/testing/|[.]example[.]ts$';

/** Returns the pattern of a folder or file in the engine. A path that does not exist is an error: its rule would never apply. */
function placeOf(path) {
  const file = `packages/compute-engine/src/${path}`;
  if (!existsSync(join(import.meta.dirname, file))) throw new Error(`.dependency-cruiser.mjs: ${file} does not exist`);
  return `^${file.replaceAll('.', '[.]')}(?:/|$)`;
}

/** Returns the pattern of external modules: packages in `node_modules`, and Node's built-in modules. */
const modules = (...names) => `(?:^|/node_modules/)(?:${names.join('|')})(?:/|$)`;

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

export default {
  forbidden: [
    ...Object.entries(PACKAGES).map(([name, allowed]) =>
      rule(
        `packages-of-${name}`,
        `The package ${name} imports only ${allowed.join(', ') || 'itself'}.`,
        { path: `^packages/${name}/src/`, pathNot: TESTS },
        // An import of a package that this package does not install is not resolved to `packages/`.
        {
          path: '^packages/|^@apistrata/',
          pathNot: `^(?:packages|@apistrata)/(?:${[name, ...allowed].join('|')})(?:/|$)`,
        },
      ),
    ),
    rule(
      'entry-points-only',
      'A package imports other packages by name, and therefore only through their entry points.',
      { path: '^packages/([^/]+)/' },
      { path: '^packages/', pathNot: '^packages/$1/', dependencyTypes: ['local'] },
    ),
    rule(
      'quota-without-versions',
      'In the quota package, only the router imports microversion, an optional peer dependency.',
      { path: '^packages/quota/src/', pathNot: `^packages/quota/src/router/|${TESTS}` },
      { path: '^packages/', pathNot: '^packages/quota/' },
    ),
    ...Object.entries(ABOVE).map(([place, above]) =>
      rule(
        `layers-above-${place.replaceAll(/[^a-z]+/g, '-')}`,
        `In the engine, ${place} imports no layer above it.`,
        { path: placeOf(place), pathNot: TESTS },
        { path: above.map(placeOf) },
      ),
    ),
    rule(
      'views-without-operations',
      'Views of the router do not depend on operations.',
      { path: '^packages/compute-router/src/views/', pathNot: TESTS },
      { path: '^packages/compute-router/src/operations/' },
    ),
    rule(
      'database-drivers',
      'Only the record store imports database drivers.',
      { path: '^packages/(?:catalogs|compute-engine|compute-router)/src/', pathNot: TESTS },
      { path: modules('pg', 'better-sqlite3', '(?:node:)?sqlite') },
    ),
    rule(
      'router-without-database',
      'The router does not depend on SQL or Redis.',
      { path: '^packages/compute-router/src/', pathNot: TESTS },
      { path: modules('kysely', 'ioredis') },
    ),
    rule(
      'engine-without-http-framework',
      'The engine does not import an HTTP framework.',
      { path: '^packages/compute-engine/src/', pathNot: TESTS },
      { path: modules('express', 'pino-http') },
    ),
    rule(
      'zod-for-presets-only',
      'The engine loads zod only to validate presets.',
      { path: '^packages/compute-engine/src/', pathNot: `/preset/(?:parse-preset|preset-schema)[.]ts$|${TESTS}` },
      { path: modules('zod'), dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'presets-load-zod',
      'The modules that load zod are imported only by the entry point for presets, or when a preset is given.',
      { path: '^packages/compute-engine/src/', pathNot: `/preset/(?:index|parse-preset)[.]ts$|${TESTS}` },
      {
        path: '/preset/(?:parse-preset|preset-schema)[.]ts$',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'dist'] },
    exclude: { path: '/(?:dist|published)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@apistrata/source', 'import', 'node', 'types'],
    },
  },
};
