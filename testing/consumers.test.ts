import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { fetchNode } from '../scripts/tools.mjs';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-consumers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One line of use for each published package, as a stranger would write it. */
const uses: Readonly<Record<string, { readonly names: string; readonly middleware: string }>> = {
  microversion: { names: 'microversion', middleware: "microversion({ service: 'compute', min: '2.1', max: '2.100' })" },
  'request-id': { names: 'requestId', middleware: 'requestId()' },
  healthcheck: { names: 'healthcheck', middleware: 'healthcheck()' },
  quota: {
    names: 'memoryStore, projectQuotas, enforceQuota',
    middleware: "enforceQuota({ quota: projectQuotas({ store: memoryStore() }), kind: 'secrets', project: () => 'p' })",
  },
};

/** Unpacks what npm would get into a node_modules of its own. */
function install(names: readonly string[]): void {
  const packed = join(folder, 'packed');
  mkdirSync(packed);
  const filters = names.map((name) => `--filter=@apistrata/${name}`);
  const args = [join(root, 'scripts/pnpm.mjs'), ...filters, 'pack', '--pack-destination', packed];
  execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
  for (const name of names) {
    const { version } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
    const target = join(folder, 'node_modules', '@apistrata', name);
    mkdirSync(target, { recursive: true });
    const tarball = join(packed, `apistrata-${name}-${version}.tgz`);
    execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  }
}

/** The oldest Node that the small packages support, if the registry can be reached; undefined otherwise. */
async function findOldNode(): Promise<string | undefined> {
  const program = await fetchNode(undefined, '20.19').catch(() => undefined);
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

beforeAll(async () => {
  install(Object.keys(uses));
  for (const express of ['express', 'express4']) {
    symlinkSync(join(root, 'node_modules', express), join(folder, 'node_modules', express));
  }
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  for (const types of ['express', 'node']) {
    symlinkSync(join(root, 'node_modules', '@types', types), join(folder, 'node_modules', '@types', types));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  oldNode = await findOldNode();
  if (!oldNode) console.warn('\n*** SKIPPED: consumers on Node 20.19: the registry cannot be reached ***\n');
}, 300_000);

function run(program: string, file: string, text: string): string {
  const path = join(folder, file);
  writeFileSync(path, text);
  return execFileSync(program, ['--no-warnings', path], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
}

describe.each(Object.entries(uses))('@apistrata/%s as it is published', (name, { names, middleware }) => {
  it.each(['express', 'express4'])('is imported into an ES module beside %s', (express) => {
    const text = `import express from '${express}';\nimport { ${names} } from '@apistrata/${name}';\n${server('express', middleware)}`;
    expect(run(process.execPath, `${name}-${express}.mjs`, text)).toContain('status 200');
    if (oldNode) expect(run(oldNode, `${name}-${express}-old.mjs`, text)).toContain('status 200');
  });

  it('is required from CommonJS', () => {
    const text = `const express = require('express');\nconst { ${names} } = require('@apistrata/${name}');\n${server('express', middleware)}`;
    expect(run(process.execPath, `${name}.cjs`, text)).toContain('status 200');
    if (oldNode) expect(run(oldNode, `${name}-old.cjs`, text)).toContain('status 200');
  });

  it('has source maps that lead to sources which are there', () => {
    const dist = join(folder, 'node_modules', '@apistrata', name, 'dist');
    const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.map'));
    const sources = maps.flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(dist, file), 'utf8')) as { sources: readonly string[] };
      return sources.map((source) => join(dist, dirname(file), source));
    });
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((file) => !existsSync(file))).toEqual([]);
  });
});

it('the packages as they are published are typed for a strict TypeScript project', () => {
  const files = Object.entries(uses).map(([name, { names, middleware }]) => {
    const text = `import express from 'express';\nimport { ${names} } from '@apistrata/${name}';\nexpress().use(${middleware});\n`;
    writeFileSync(join(folder, `${name}.mts`), text);
    return `${name}.mts`;
  });
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const args = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', ...files];
  const { status, stdout } = spawnSync(tsc, args, { cwd: folder, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});
