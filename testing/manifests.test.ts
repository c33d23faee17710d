import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { homepage } = JSON.parse(read('package.json'));
const names = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);

/** The peer dependency on each framework, its other version in the root manifest, and its title in READMEs. */
const FRAMEWORKS = [
  ['fastify', 'fastify4', 'Fastify'],
  ['koa', 'koa2', 'Koa'],
  ['hono', 'hono', 'Hono'],
  ['@hono/node-server', 'hono-node-server1', undefined],
  ['@nestjs/common', '@nestjs/common', 'NestJS'],
] as const;

describe('the manifests of the packages', () => {
  it('have the shared fields that `npm run manifests` writes', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/manifests.mjs'), '--check']);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  it.each(names)('%s has a description, and every entry point has a source', (name) => {
    const { description, keywords, exports } = JSON.parse(read(`packages/${name}/package.json`));
    expect(description.length).toBeGreaterThan(20);
    expect(new Set(keywords).size).toBeGreaterThan(5);
    const entries = Object.entries<Record<string, string>>(exports).filter(([path]) => path !== './package.json');
    const sources = entries.map(([, entry]) => join(root, 'packages', name, entry['@apistrata/source']!));
    expect(sources.filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each(names)('%s accepts the next minor version of its peers from this workspace', (name) => {
    // A remaining peer dependency would cause a major version of the package that has it.
    const { peerDependencies = {} } = JSON.parse(read(`packages/${name}/package.json`));
    const ours = Object.entries(peerDependencies).filter(([peer]) => peer.startsWith('@apistrata/'));
    expect(ours.filter(([, range]) => range !== 'workspace:>=0.0.0 <1.0.0')).toEqual([]);
  });

  it.each(['request-id', 'healthcheck', 'microversion', 'quota'])(
    '%s states the major versions of frameworks on which its tests run',
    (name) => {
      const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
        read(`packages/${name}/package.json`),
      );
      // The Vitest project `other-frameworks` repeats the tests with the versions in the root manifest.
      const others = JSON.parse(read('package.json')).devDependencies;
      const readme = read(`packages/${name}/README.md`);
      for (const [peer, other, title] of FRAMEWORKS) {
        const majors = [devDependencies[peer], others[other]].map((range) => Number(/\^(\d+)\./.exec(range)?.[1]));
        const tested = [...new Set(majors)].sort((a, b) => a - b);
        const stated = tested.map((major) => `^${major}.0.0`).join(' || ');
        expect([peer, peerDependencies[peer], peerDependenciesMeta[peer]]).toEqual([peer, stated, { optional: true }]);
        if (title) expect(readme).toContain(`\n| ${title} ${tested.join(' and ')} `);
      }
    },
  );

  it('of the compute API share one version number', () => {
    const { fixed } = JSON.parse(read('.changeset/config.json'));
    const family = [
      'catalogs',
      'compute-engine',
      'compute-router',
      'explorer',
      'qemu',
      'record-store',
      'server',
      'test-cloud',
      'ui',
    ].map((name) => `@apistrata/${name}`);
    expect(fixed).toContainEqual(expect.arrayContaining(family));
  });
});

/** The other packages in the comparisons: the column, and the start of the links to their documentation. */
const COMPARED = [
  ['request-id', 'express-request-id', 'https://github.com/floatdrop/express-request-id'],
  ['request-id', 'hyperid', 'https://github.com/mcollina/hyperid'],
  ['healthcheck', '@godaddy/terminus', 'https://github.com/godaddy/terminus'],
  ['healthcheck', 'lightship', 'https://github.com/gajus/lightship'],
] as const;

/** The rows of the comparison in a README, each by the names of its columns. */
function comparisonOf(name: string): readonly Readonly<Record<string, string>>[] {
  const [, section = ''] = read(`packages/${name}/README.md`).split('\n## Comparison\n');
  const [table = ''] = section.trimStart().split('\n\n');
  const cellsOf = (line: string) => line.split('|').slice(1, -1);
  const [columns = [], , ...rows] = table.split('\n').map((line) => cellsOf(line).map((cell) => cell.trim()));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [columns[index], cell])));
}

describe('the READMEs of the packages', () => {
  const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);

  it.each(['request-id', 'healthcheck', 'microversion', 'microversion-router', 'quota'])(
    '%s shows each row of its comparison by a test or by documentation',
    (name) => {
      const rows = comparisonOf(name);
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.filter((row) => linksOf(row['shown by'] ?? '').length === 0)).toEqual([]);
    },
  );

  it.each(COMPARED)('%s links the documentation of %s in each row that describes it', (name, other, url) => {
    const described = comparisonOf(name).filter((row) => row[other] !== '-');
    expect(described.length).toBeGreaterThan(1);
    expect(described.filter((row) => !row['shown by']?.includes(`](${url}`))).toEqual([]);
  });

  it.each(names)('%s has links that also work on a package page', (name) => {
    const links = linksOf(read(`packages/${name}/README.md`));
    // Relative links lead outside the published files.
    expect(links.filter((link) => !/^(https?:|#)/.test(link))).toEqual([]);
    const ours = links.filter((link) => link.startsWith(`${homepage}/`));
    const files = ours.map((link) => link.slice(homepage.length).replace(/^\/(blob|tree|raw)\/main\/|#.*$/g, ''));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
