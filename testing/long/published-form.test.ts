import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { bundleOptionsOf, manifestOf, publishedFolders } from '../../scripts/manifests.mjs';
// @ts-expect-error: scripts have no types
import { installPublishedForms } from '../../scripts/published-form.mjs';

const root = join(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'apistrata-published-'));
const folders: readonly string[] = publishedFolders();
const installedAt = (folder: string) => join(project, 'node_modules', manifestOf(folder).name);

beforeAll(() => installPublishedForms(project), 60_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Returns the output of a module in the project. */
function printed(text: string): any {
  const file = join(project, 'print.mjs');
  writeFileSync(file, text);
  return JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 60_000 }));
}

/** A program that defines `exportsOf`: the exports of each entry point of a package in a folder, and the values that several of them share. */
const EXPORTS_PROGRAM = `
const exportsOf = async (folder) => {
  const { default: manifest } = await import(folder + '/package.json', { with: { type: 'json' } });
  const fileOf = (entry) => entry.import?.default ?? entry.default;
  const entries = Object.entries(manifest.exports).filter(([, entry]) => fileOf(entry));
  const values = new Map();
  const keys = {};
  for (const [path, entry] of entries) {
    const module = await import(folder + '/' + fileOf(entry));
    keys[path] = Object.keys(module).sort();
    for (const [key, value] of Object.entries(module))
      if (typeof value === 'function') values.set(value, [...(values.get(value) ?? []), path + ' ' + key]);
  }
  return { keys, shared: [...values.values()].filter((places) => places.length > 1).map((places) => places.sort()).sort() };
};`;

/** The files of an installed package, without its dependencies' files. */
function filesOf(folder: string): readonly string[] {
  const files = readdirSync(installedAt(folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => !file.startsWith('node_modules'));
}

/** The names of an entry point that have docstrings, including the names of their members: `Version`, `Version.compare`. */
function documentedBy(file: string): readonly string[] {
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const isDocumented = (symbol: ts.Symbol) => symbol.getDocumentationComment(checker).length > 0;
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!);
  return exported.flatMap((symbol) => {
    const actual = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const members = [...(actual.members?.values() ?? [])].filter(isDocumented);
    return [...(isDocumented(actual) ? [symbol.name] : []), ...members.map(({ name }) => `${symbol.name}.${name}`)];
  });
}

describe.each(folders)('%s in its published form', (folder) => {
  const target = installedAt(folder);

  it('exports from each entry point what the compiled package exports, with one copy of shared code', () => {
    const [ours, built] = [target, join(root, folder)].map((path) =>
      printed(`${EXPORTS_PROGRAM}\nconsole.log(JSON.stringify(await exportsOf(${JSON.stringify(path)})));`),
    );
    expect(ours).toEqual(built);
  });

  it('contains no sources, no maps, no tests, and a declaration for every entry point', () => {
    const files = filesOf(folder);
    expect(files.filter((file) => /(^(src|test)\/|\.map$|\.test\.|\.tsbuildinfo$)/.test(file))).toEqual([]);
    const { exports } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
    const named = [...JSON.stringify(exports).matchAll(/"(\.\/[^"]+\.(?:js|ts))"/g)].map(([, file]) => file!.slice(2));
    expect(named.filter((file) => !files.includes(file))).toEqual([]);
    const entryPoints = Object.keys(exports).filter((path) => path !== './package.json');
    expect(named.filter((file) => file.endsWith('index.d.ts')).length).toBeGreaterThanOrEqual(entryPoints.length);
  });

  it.skipIf(bundleOptionsOf(folder))(
    'has the docstrings of every exported name',
    () => {
      const { exports } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
      for (const path of Object.keys(exports).filter((entry) => entry !== './package.json')) {
        const file = `dist/${path === '.' ? 'index' : `${path.slice(2)}/index`}.d.ts`;
        const [published, built] = [target, join(root, folder)].map((from) => documentedBy(join(from, file)));
        expect(built).not.toEqual([]);
        expect(published?.toSorted(), path).toEqual(built?.toSorted());
      }
    },
    60_000,
  );

  it('imports only packages that are installed with it, in declarations too', () => {
    const { name, dependencies, peerDependencies } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
    const declared = Object.keys({ [name]: '', ...dependencies, ...peerDependencies });
    const modules = filesOf(folder).filter((file) => /\.(d\.ts|js)$/.test(file) && !file.startsWith('dist/files/'));
    const imported = modules.flatMap((file) => {
      const text = readFileSync(join(target, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      const found = [...text.matchAll(/^(?:import|export)\b[^;`'"(]*[`'"]([^`'".][^`'"]*)[`'"];?/gm)].map(
        ([, id]) => id!,
      );
      return found.filter((id) => !isBuiltin(id));
    });
    const packages = imported.map((id) => /^(@[^/]+\/)?[^/]+/.exec(id)![0]);
    // Types of the platform, which every TypeScript project has.
    expect([...new Set(packages)].filter((id) => !declared.includes(id))).toEqual([]);
  });

  it('does not contain its build configuration', () => {
    const { scripts, devDependencies, publishConfig, exports } = JSON.parse(
      readFileSync(join(target, 'package.json'), 'utf8'),
    );
    expect({ scripts, devDependencies, publishConfig }).toEqual({
      publishConfig: { access: 'public', provenance: true },
    });
    expect(JSON.stringify(exports)).not.toContain('source');
  });
});

describe.each(folders.filter(bundleOptionsOf))('%s, which is published as one bundle,', (folder) => {
  it('contains the license of each bundled package', () => {
    const text = readFileSync(join(installedAt(folder), 'dist/LICENSES.txt'), 'utf8');
    const groups = text.split(`\n${'-'.repeat(80)}\n\n`);
    for (const name of ['express', 'kysely', 'zod']) {
      const entry = new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm');
      expect(groups.filter((group) => entry.test(group))).toHaveLength(1);
    }
    expect(groups.filter((group) => group.length < 300)).toEqual([]);
  });
});

it('a cloud of published packages serves its API, its pages and their files', () => {
  const results = printed(`
    import { startCloud } from '@apistrata/test-cloud';
    const cloud = await startCloud();
    const headers = { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/json' };
    const request = (path, options) => fetch(cloud.url + path, { headers, ...options });
    const server = { name: 'a', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b' };
    const created = await request('/compute/v2.1/servers', { method: 'POST', body: JSON.stringify({ server }) });
    await cloud.idle();
    const { servers } = await (await request('/compute/v2.1/servers/detail')).json();
    const docs = await (await request('/docs/')).text();
    const [, style] = /href="([^"]*\\.css[^"]*)"/.exec(docs);
    const paths = ['/docs/', new URL(style, cloud.url + '/docs/').pathname, '/_page/page.js'];
    const statuses = await Promise.all(paths.map(async (path) => (await request(path)).status));
    await cloud.stop();
    console.log(JSON.stringify([created.status, servers.map(({ status }) => status), statuses]));`);
  expect(results).toEqual([202, ['ACTIVE'], [200, 200, 200]]);
});

it('a published engine runs long reads of its file in another thread', () => {
  const reported = printed(`
    import { createEngine, defaultPreset } from '@apistrata/compute-engine';
    let threads = 0;
    process.on('worker', () => threads++);
    const engine = await createEngine({ database: ${JSON.stringify(join(project, 'cloud.db'))} });
    const context = { caller: { userId: 'ada', projectId: 'demo', roles: ['admin'] }, requestId: 'req-1', isAdmin: true };
    const fields = { flavorId: '1', imageId: defaultPreset.images[0].id, networks: 'none' };
    for (const name of ['b', 'a']) await engine.servers.create(context, { ...fields, name });
    await engine.idle();
    const sort = [{ key: 'display_name', direction: 'asc' }];
    const found = await engine.servers.list(context, { allProjects: true, limit: 5, sort, filters: { name: '[a-c]' } });
    await engine.close();
    console.log(JSON.stringify([found.map(({ name }) => name), threads]));`);
  expect(reported).toEqual([['a', 'b'], 1]);
});
