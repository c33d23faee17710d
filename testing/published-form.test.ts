import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { servesCommonJs } from '../scripts/manifests.mjs';
// @ts-expect-error: scripts have no types
import { installPublishedForms } from '../scripts/published-form.mjs';

const root = join(import.meta.dirname, '..');
const project = mkdtempSync(join(tmpdir(), 'apistrata-published-'));
const published = join(project, 'node_modules', '@apistrata');
const names = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'src')));

beforeAll(() => installPublishedForms(project), 60_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** What a module prints that somebody has written in the project. */
function printed(text: string): any {
  const file = join(project, 'print.mjs');
  writeFileSync(file, text);
  return JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 60_000 }));
}

/** What the doors of a package in a folder hold: the names in each, and which of the values stand in several. */
const HELD = `
const held = async (name, folder) => {
  const { default: manifest } = await import(folder + '/package.json', { with: { type: 'json' } });
  const fileOf = (entry) => entry.import?.default ?? entry.default;
  const doors = Object.entries(manifest.exports).filter(([, entry]) => fileOf(entry));
  const values = new Map();
  const keys = {};
  for (const [path, entry] of doors) {
    const module = await import(folder + '/' + fileOf(entry));
    keys[path] = Object.keys(module).sort();
    for (const [key, value] of Object.entries(module))
      if (typeof value === 'function') values.set(value, [...(values.get(value) ?? []), path + ' ' + key]);
  }
  return { keys, shared: [...values.values()].filter((places) => places.length > 1).map((places) => places.sort()).sort() };
};`;

describe.each(names)('%s as it is published', (name) => {
  const folder = join(published, name);

  it('holds in each of its doors what the compiler has put there, and one copy of what stands in several', () => {
    const [ours, built] = [folder, join(root, 'packages', name)].map((path) =>
      printed(`${HELD}\nconsole.log(JSON.stringify(await held(${JSON.stringify(name)}, ${JSON.stringify(path)})));`),
    );
    expect(ours).toEqual(built);
  });

  it('has maps that lead to its sources, declarations for all of them, and no tests', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !/node_modules/.test(file),
    );
    const maps = files.filter((file) => file.endsWith('.map') && !file.startsWith('dist/command'));
    const sources = maps.flatMap((file) => {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      expect([file, sourcesContent?.find(Boolean)]).toEqual([file, undefined]);
      return (sources as readonly string[]).map((source) => join(folder, dirname(file), source));
    });
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
    const modules = files.filter((file) => /^src\/.*\.ts$/.test(file));
    const dist = servesCommonJs(`packages/${name}`) ? 'dist/cjs/' : 'dist/';
    const declarations = modules.map((file) => file.replace(/^src\//, dist).replace(/\.ts$/, '.d.ts'));
    expect(declarations.filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => /(^test|\.test\.ts$|\.tsbuildinfo$)/.test(file))).toEqual([]);
  });

  it('says nothing of how it is made', () => {
    const { scripts, devDependencies, publishConfig } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect({ scripts, devDependencies, publishConfig }).toEqual({
      publishConfig: { access: 'public', provenance: true },
    });
  });
});

it('a cloud made of what is published serves its API, its pages and what they load', () => {
  const told = printed(`
    import { startCloud } from '@apistrata/test-cloud';
    const cloud = await startCloud();
    const headers = { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/json' };
    const ask = (path, options) => fetch(cloud.url + path, { headers, ...options });
    const server = { name: 'a', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b' };
    const made = await ask('/compute/v2.1/servers', { method: 'POST', body: JSON.stringify({ server }) });
    await cloud.idle();
    const { servers } = await (await ask('/compute/v2.1/servers/detail')).json();
    const docs = await (await ask('/docs/')).text();
    const [, style] = /href="([^"]*\\.css[^"]*)"/.exec(docs);
    const paths = ['/docs/', new URL(style, cloud.url + '/docs/').pathname, '/_page/page.js'];
    const statuses = await Promise.all(paths.map(async (path) => (await ask(path)).status));
    await cloud.stop();
    console.log(JSON.stringify([made.status, servers.map(({ status }) => status), statuses]));`);
  expect(told).toEqual([202, ['ACTIVE'], [200, 200, 200]]);
});

it('an engine of what is published reads its file in another thread where that may take long', () => {
  const told = printed(`
    import { createEngine, defaultPreset } from '@apistrata/compute-engine';
    let threads = 0;
    process.on('worker', () => threads++);
    const engine = await createEngine({ database: ${JSON.stringify(join(project, 'cloud.db'))} });
    const context = { caller: { userId: 'ada', projectId: 'demo', roles: ['member'] }, requestId: 'req-1', isAdmin: false };
    const asked = { flavorId: '1', imageId: defaultPreset.images[0].id, networks: 'none' };
    for (const name of ['b', 'a']) await engine.servers.create(context, { ...asked, name });
    await engine.idle();
    const sort = [{ key: 'display_name', direction: 'asc' }];
    const found = await engine.servers.list(context, { limit: 5, sort, filters: { name: '[a-c]' } });
    await engine.close();
    console.log(JSON.stringify([found.map(({ name }) => name), threads]));`);
  expect(told).toEqual([['a', 'b'], 1]);
});
