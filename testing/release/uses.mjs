const compute = { headers: { 'X-Auth-Token': 'ada:demo' } };

/** Returns an OpenAPI document with an operation for each path. */
function documentOf(...paths) {
  const responses = { 204: { description: 'Done' } };
  const operations = paths.map((path) => [path, { get: { summary: `Show ${path}`, responses } }]);
  return { openapi: '3.1.0', info: { title: 'Lists', version: '1.0.0' }, paths: Object.fromEntries(operations) };
}

/**
 * The first use of each package by a user.
 *
 * - `imports`: names by module
 * - `setup`, `handler`, `stop`: lines before, an expression for middleware or a handler, lines after
 * - `mount`: its path in Express
 * - `final`: the handler responds to every request and takes no `next`
 * - `run`: lines that set `status`, instead of a handler
 * - `probe`: path and headers of a request to this use that returns 200
 * - `readme`: path and headers of a request to the server of the README's first example that returns 200; or the name
 *   of a value that the example exports, if it has no server; or the program that runs it; or that it is only compiled,
 *   because it needs a prepared machine
 * - `npx`: arguments of the command, the pattern of its output when it serves, the path of a request; the maximum number of packages and
 *   megabytes that `npx` installs, and of seconds until the first response. A command that ends has `files` (JSON by name), `exit`
 *   (its exit code) and `output` (a pattern) instead of the pattern and the path. Packages without `imports` are only run
 * - `compiles`: the peer dependency that the README installs runs install scripts, for optional native parts
 * - `subPath`: for packages that support CommonJS, an entry point that needs no optional peer
 * - `sqlite`: a second use with the SQLite of the row, if there is one
 */
export const uses = {
  microversion: {
    imports: { '@apistrata/microversion': ['microversion'] },
    handler: "microversion({ service: 'compute', min: '2.1', max: '2.100' })",
    readme: { path: '/lists' },
    subPath: 'koa',
  },
  'microversion-router': {
    imports: { '@apistrata/microversion-router': ['createRouter'], '@apistrata/microversion': ['microversion'] },
    handler: `createRouter({
    operations: [{ method: 'GET', path: '/', summary: 'Ping', status: 200, run: () => undefined }],
    call: () => ({}),
    negotiate: microversion({ service: 'compute', min: '2.1', max: '2.100' }).negotiate,
  })`,
    final: true,
    readme: { path: '/todos' },
    subPath: 'client',
  },
  'request-id': {
    imports: { '@apistrata/request-id': ['requestId'] },
    handler: 'requestId()',
    readme: { path: '/' },
    subPath: 'koa',
  },
  healthcheck: {
    imports: { '@apistrata/healthcheck': ['healthcheck'] },
    handler: 'healthcheck()',
    probe: { path: '/healthcheck' },
    readme: { path: '/healthcheck' },
    subPath: 'server',
  },
  quota: {
    imports: { '@apistrata/quota': ['enforceQuota', 'memoryStore', 'projectQuotas'] },
    handler:
      "enforceQuota({ quota: projectQuotas({ store: memoryStore(), kinds: ['secrets'] }), kind: 'secrets', project: () => 'p' })",
    readme: { path: '/usage', headers: { 'X-Account': 'acme' } },
    subPath: 'sql',
    sqlite({ sqlite, node }) {
      // The binary of version 12 comes from its install script.
      if (sqlite === 12 || (sqlite === 'none' && node < 22)) return undefined;
      const connection =
        sqlite === 'none'
          ? "new (await import('node:sqlite')).DatabaseSync(':memory:')"
          : "new (await import('better-sqlite3')).default(':memory:')";
      return {
        imports: { '@apistrata/quota': ['projectQuotas'], '@apistrata/quota/sql': ['sqlite', 'sqlStore'] },
        run: `const store = sqlStore({ database: sqlite(${connection}) });
  await store.createSchema();
  const reservation = await projectQuotas({ store, defaults: { secrets: 1 } }).reserve('p', { secrets: 1 });
  await reservation.commit();
  const status = 200;`,
      };
    },
  },
  'record-store': {
    imports: { '@apistrata/record-store': ['openStore'] },
    run: `const store = await openStore(':memory:', {});
  const status = await store.check().then(() => 200, () => 503);
  await store.close();`,
    readme: { value: 'found' },
  },
  catalogs: {
    imports: {
      '@apistrata/catalogs/builtin': ['catalogChanges', 'embeddedCatalogs'],
      '@apistrata/record-store': ['openStore'],
    },
    run: `const store = await openStore(':memory:', catalogChanges);
  embeddedCatalogs({ store, clock: { now: Date.now } });
  const status = await store.check().then(() => 200, () => 503);
  await store.close();`,
    readme: { value: 'network' },
  },
  'compute-engine': {
    imports: { '@apistrata/compute-engine': ['createEngine'] },
    run: `const engine = await createEngine({ database: ':memory:' });
  const status = (await engine.health.database()).healthy ? 200 : 503;
  await engine.close();`,
    readme: { value: 'booted' },
  },
  'compute-router': {
    imports: { '@apistrata/compute-router': ['computeApi', 'noauth'], '@apistrata/compute-engine': ['createEngine'] },
    setup: "const engine = await createEngine({ database: ':memory:' });",
    handler: 'computeApi({ engine, identity: noauth() })',
    stop: 'await engine.close();',
    probe: { path: '/v2.1/flavors', ...compute },
    readme: { path: '/v2.1/flavors', ...compute },
  },
  ui: {
    imports: { '@apistrata/ui': ['stylePage', 'uiAsset'] },
    run: "const status = stylePage('/assets').text && uiAsset('ui.css') ? 200 : 503;",
    readme: { path: '/' },
  },
  explorer: {
    imports: { '@apistrata/explorer': ['explorer'], '@apistrata/compute-router': ['operations'] },
    handler: ({ express }) =>
      `explorer({ operations, min: '2.1', max: '2.100'${express === 'none' ? ", path: '/docs'" : ''} })`,
    mount: '/docs',
    probe: { path: '/docs' },
    readme: { path: '/docs' },
    npx: {
      files: { 'main.json': documentOf('/lists', '/export'), 'openapi.json': documentOf('/lists') },
      args: ['check', '--against', 'main.json', 'openapi.json'],
      exit: 1,
      output: /GET \/export/,
      packages: 14,
      megabytes: 18,
      seconds: 15,
    },
  },
  qemu: {
    imports: { '@apistrata/qemu': ['qemuDriver'] },
    run: "const status = typeof qemuDriver({ directory: 'machines' }) === 'function' ? 200 : 404;",
    readme: { compiled: true },
  },
  testcontainers: {
    compiles: true,
    imports: { '@apistrata/testcontainers': ['TestCloudContainer'] },
    run: "const status = new TestCloudContainer('test-cloud:0.1.0').withOptions('--preset', 'minimal') ? 200 : 404;",
    readme: { compiled: true },
  },
  server: {
    npx: {
      args: ['--port', '0', '--db', ':memory:', '--drain-ms', '0'],
      sign: /Compute API (http:\S+)\/v2\.1/,
      path: '/v2.1/flavors',
      packages: 3,
      megabytes: 8,
      seconds: 5,
    },
  },
  'test-cloud': {
    imports: { '@apistrata/test-cloud': ['startCloud'] },
    run: `const cloud = await startCloud();
  const { status } = await fetch(cloud.url);
  await cloud.stop();`,
    readme: { program: 'vitest' },
    npx: { args: ['--port', '0'], sign: /OS_AUTH_URL=(\S+)\n/, packages: 3, megabytes: 8, seconds: 3 },
  },
};

/**
 * Returns the source of a use: a program that prints `status N`, as an ES module or in CommonJS, with Express or with
 * bare `node:http`.
 */
export function programOf(use, { express, modules, types }) {
  const { imports, setup = '', mount = '/', run, stop = '', probe = {} } = use;
  const handler = typeof use.handler === 'function' ? use.handler({ express }) : use.handler;
  const load = modules === 'esm' ? (names, from) => `import ${names} from '${from}';` : requireLine(types);
  const served = handler && express === 'none';
  const lines = [
    ...Object.entries(imports).map(([from, names]) => load(`{ ${names.join(', ')} }`, from)),
    ...(handler && !served ? [load('express', 'express')] : []),
    ...(handler ? [load('{ createServer }', 'node:http')] : []),
  ];
  const { path = '/', headers = {} } = probe;
  const bare = use.final ? 'handler' : "(req, res) => handler(req, res, () => res.end('ok'))";
  const listener = served ? bare : `express().use('${mount}', handler).get('/', (_req, res) => { res.send('ok'); })`;
  const serve = `const handler = ${handler};
  const server = createServer(${listener});
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { status } = await fetch(\`http://127.0.0.1:\${port}${path}\`, { headers: ${JSON.stringify(headers)} });
  server.closeAllConnections();
  server.close();`;
  return `${lines.join('\n')}

async function main() {
  ${setup}
  ${run ?? serve}
  ${stop}
  console.log('status ' + status);
}
main();
`;
}

/** Returns the source of the same use as a test for Jest, in CommonJS. */
export function jestOf(use, { express }) {
  const program = programOf(use, { express, modules: 'cjs' }).replace(/\nmain\(\);\n$/, '');
  return `${program.replace("console.log('status ' + status)", 'return status')}
test('responds', async () => {
  expect(await main()).toBe(200);
});
`;
}

/** In a TypeScript CommonJS module, an import becomes a call of require(). */
function requireLine(types) {
  if (!types) return (names, from) => `const ${names} = require('${from}');`;
  return (names, from) =>
    names.startsWith('{') ? `import ${names} from '${from}';` : `import ${names} = require('${from}');`;
}
