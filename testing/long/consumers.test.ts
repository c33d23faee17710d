import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
// @ts-expect-error: scripts have no types
import { supportsCommonJs } from '../../scripts/manifests.mjs';
// @ts-expect-error: scripts have no types
import { fetchNode } from '../../scripts/tools.mjs';
import { installPacked } from '../packed-packages.js';
import { registryPackage } from '../registry-package.js';
// @ts-expect-error: scripts have no types
import { programOf, uses as releaseUses } from '../release/uses.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-consumers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Use {
  readonly names: string;
  readonly middleware: string;
}

/** The use of each published package: the imported names, and an expression for the middleware. */
const uses: Readonly<Record<string, Use>> = {
  microversion: { names: 'microversion', middleware: "microversion({ service: 'compute', min: '2.1', max: '2.100' })" },
  // A router sends the response to every request.
  'microversion-router': {
    names: 'createRouter',
    middleware: 'createRouter({ operations: [], call: () => ({}), fault: (_error, _req, res) => void res.end() })',
  },
  'request-id': { names: 'requestId', middleware: 'requestId()' },
  healthcheck: { names: 'healthcheck', middleware: 'healthcheck()' },
  quota: {
    names: 'memoryStore, projectQuotas, enforceQuota',
    middleware:
      "enforceQuota({ quota: projectQuotas({ store: memoryStore(), kinds: ['secrets'] }), kind: 'secrets', project: () => 'p' })",
  },
};

/** The path of the oldest Node that the small packages support; undefined if the registry cannot be reached. */
async function findOldNode(): Promise<string | undefined> {
  const program = await fetchNode({ major: '20.19' }).catch(() => undefined);
  if (!program) return undefined;
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout;
  return version.startsWith('v20.19.') ? program : undefined;
}

/** Serves one request through the middleware and prints the status. */
function server(express: string, middleware: string): string {
  return `
  const app = ${express}();
  app.use(${middleware});
  app.get('/', (req, res) => res.send('ok'));
  const listening = app.listen(0, '127.0.0.1', async () => {
    const { status } = await fetch('http://127.0.0.1:' + listening.address().port + '/');
    console.log('status ' + status);
    process.exit(0);
  });`;
}

let oldNode: string | undefined;

/** The versions of Node on which consumers run: the current one, and the oldest that the packages support. */
const NODES = ['the current Node', 'Node 20.19'] as const;

/** Returns the path of a Node, or skips the test if it could not be fetched. */
function nodeOf(node: (typeof NODES)[number], skip: TestContext['skip']): string {
  if (node === 'the current Node') return process.execPath;
  return oldNode ?? skip('the registry cannot be reached');
}

beforeAll(async () => {
  installPacked(Object.keys(uses), folder);
  for (const express of ['express', 'express4']) {
    symlinkSync(join(root, 'node_modules', express), join(folder, 'node_modules', express));
  }
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  for (const types of ['express', 'node']) {
    symlinkSync(join(root, 'node_modules', '@types', types), join(folder, 'node_modules', '@types', types));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  oldNode = await findOldNode();
}, 300_000);

function run(program: string, file: string, text: string): string {
  const path = join(folder, file);
  writeFileSync(path, text);
  return execFileSync(program, ['--no-warnings', path], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
}

describe.each(Object.entries(uses))('the published package @apistrata/%s', (name, { names, middleware }) => {
  const imports = ['express', 'express4'].flatMap((express) => NODES.map((node) => [express, node] as const));

  it.for(imports)('can be imported into an ES module with %s on %s', ([express, node], { skip }) => {
    const program = nodeOf(node, skip);
    const text = `import express from '${express}';\nimport { ${names} } from '@apistrata/${name}';\n${server('express', middleware)}`;
    expect(run(program, `${name}-${express}.mjs`, text)).toContain('status 200');
  });

  it.for(NODES)('can be required from CommonJS on %s', (node, { skip }) => {
    const program = nodeOf(node, skip);
    const text = `const express = require('express');\nconst { ${names} } = require('@apistrata/${name}');\n${server('express', middleware)}`;
    expect(run(program, `${name}.cjs`, text)).toContain('status 200');
  });
});

/** Every entry point of a package, as users import it. */
function entryPoints(name: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
  const paths = Object.keys(exports).filter((path) => path !== './package.json');
  return paths.map((path) => `@apistrata/${name}${path.slice(1)}`);
}

/** Compiles a file for each use; returns status and output of the compiler. */
function compile(list: readonly (readonly [name: string, use: Use])[], ending: string, ...options: readonly string[]) {
  const files = list.map(([name, { names, middleware }]) => {
    const every = entryPoints(name).map(
      (from, index) => `import * as entry${index} from '${from}';\nvoid entry${index};`,
    );
    const text = `import express = require('express');\nimport { ${names} } from '@apistrata/${name}';\nexpress().use(${middleware});\n`;
    const imported = ending === 'mts' ? text.replace("express = require('express')", "express from 'express'") : text;
    writeFileSync(join(folder, `${name}.${ending}`), `${imported}${every.join('\n')}\n`);
    return `${name}.${ending}`;
  });
  // TypeScript 7 does not support all of these module resolutions.
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--noEmit', '--strict', '--target', 'es2022', '--types', 'node', ...options, ...files];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return [status, stdout];
}

it('the published packages are typed for a strict TypeScript project', () => {
  expect(compile(Object.entries(uses), 'mts', '--module', 'nodenext')).toEqual([0, '']);
});

const commonjs = Object.entries(uses).filter(([name]) => supportsCommonJs(`packages/${name}`));

/** Runs the tests of a folder with Jest, without options; returns its status and output. */
function runJest(project: string) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  // With the variables that Vitest sets for its own processes, Jest would behave like one of them.
  const { NODE_OPTIONS: _, NODE_ENV: __, ...env } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [jest, '--ci'], { cwd: project, env, encoding: 'utf8' });
  return [status, stderr];
}

describe('the packages that support CommonJS', () => {
  it('are typed for a CommonJS project with `module: node16`', () => {
    expect(compile(commonjs, 'cts', '--module', 'node16')).toEqual([0, '']);
  });

  it('are typed for `moduleResolution: node10`', () => {
    const options = ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'];
    expect(compile(commonjs, 'ts', ...options)).toEqual([0, '']);
  });

  it.for(['commonjs', 'node16'])('run in ts-node with `module: %s`', { timeout: 120_000 }, async (module, { skip }) => {
    const programs = await registryPackage('ts-node@10 typescript@5');
    if (!programs) skip('*** SKIPPED: ts-node: the registry cannot be reached ***');
    const project = join(folder, `ts-node-${module}`);
    mkdirSync(project, { recursive: true });
    const compilerOptions = { module, target: 'es2022', strict: true, types: ['node'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    for (const [name] of commonjs) {
      const program = programOf(releaseUses[name], { express: '5', modules: 'cjs', types: true });
      writeFileSync(join(project, `${name}.ts`), program);
      const { NODE_OPTIONS: _, ...env } = process.env;
      const args = [join(programs, 'ts-node/dist/bin.js'), `${name}.ts`];
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, env, encoding: 'utf8' });
      expect([name, stdout, stderr]).toEqual([name, 'status 200\n', '']);
    }
  });

  it('can be tested with Jest in its default configuration', () => {
    const project = join(folder, 'jest');
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    for (const [name, { names, middleware }] of commonjs) {
      const entries = entryPoints(name).map((from) => `expect(Object.keys(require('${from}'))).not.toEqual([]);`);
      writeFileSync(
        join(project, `${name}.test.js`),
        `const express = require('express');
const { ${names} } = require('@apistrata/${name}');
test('responds', async () => {
  ${entries.join('\n  ')}
  const app = express();
  app.use(${middleware});
  app.get('/', (req, res) => res.send('ok'));
  const listening = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  const response = await fetch('http://127.0.0.1:' + listening.address().port + '/', { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  await new Promise((resolve) => listening.close(resolve));
});
`,
      );
    }
    expect(runJest(project)).toEqual([
      0,
      expect.stringContaining(`${commonjs.length} passed, ${commonjs.length} total`),
    ]);
  });

  it('microversion can be used in CommonJS and tested with Jest as its README shows', () => {
    const project = join(folder, 'jest-readme');
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    symlinkSync(join(root, 'node_modules', 'supertest'), join(folder, 'node_modules', 'supertest'));
    const readme = readFileSync(join(root, 'packages/microversion/README.md'), 'utf8');
    for (const file of ['app.js', 'app.test.js']) {
      const [, code] = readme.split(`\`\`\`js\n// ${file}\n`);
      writeFileSync(join(project, file), code?.split('\n```')[0] ?? '');
    }
    expect(runJest(project)).toEqual([0, expect.stringContaining('1 passed, 1 total')]);
  }, 120_000);

  it.each(commonjs)('%s is the same copy if imported and if required', (name) => {
    const pairs = entryPoints(name).map((from) => `[await import('${from}'), require('${from}')]`);
    const text = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const [imported, required] of [${pairs.join(', ')}]) {
  const names = Object.keys(required);
  if (names.length === 0 || names.some((name) => imported[name] !== required[name])) throw new Error('two copies');
}
console.log('one copy');`;
    expect(run(process.execPath, `${name}-one-copy.mjs`, text)).toContain('one copy');
  });
});
