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

describe('the READMEs of the packages', () => {
  const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);

  it.each(names)('%s has links that also work on a package page', (name) => {
    const links = linksOf(read(`packages/${name}/README.md`));
    // Relative links lead outside the published files.
    expect(links.filter((link) => !/^(https?:|#)/.test(link))).toEqual([]);
    const ours = links.filter((link) => link.startsWith(`${homepage}/`));
    const files = ours.map((link) => link.slice(homepage.length).replace(/^\/(blob|tree|raw)\/main\/|#.*$/g, ''));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
