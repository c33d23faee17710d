import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { gzippedEntry, installed, loadedWith, publishedPackages, readManifest } from './weights.js';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');

/** The rows of the table below a heading, by their first cell without its markup. */
function rowsOf(heading: string): ReadonlyMap<string, readonly string[]> {
  const [, section] = page.split(`## ${heading}\n`);
  const [text] = section!.split('\n## ');
  const rows = text!.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
  return new Map(cells.map(([name, ...rest]) => [name!, rest]));
}

const names = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'dist')));
const weights = rowsOf('What is installed');

describe('the page about dependencies', () => {
  const folders = [...names.map((name) => join(root, 'packages', name)), join(root, 'examples/reference-server')];
  const needed = folders.flatMap((folder) => {
    const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder);
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  });
  const others = [...new Set(needed.filter((name) => !name.startsWith('@apistrata/')))].sort();

  it('gives a reason for every runtime dependency, and for nothing else', () => {
    const reasons = rowsOf('Runtime dependencies');
    expect([...reasons.keys()].sort()).toEqual(others);
    for (const [name, [, reason]] of reasons) expect(reason!.length, name).toBeGreaterThan(20);
  });

  it('states the weight of every package', () => {
    expect([...weights.keys()].sort()).toEqual([...names, 'server'].map((name) => `@apistrata/${name}`).sort());
  });
});

// The table is the budget: if a figure grows beyond it, the table must be changed, which reviewers see.
describe('the weight', () => {
  let published: string;
  const folderOf = (name: string) => join(published, name.replace('@apistrata/', ''));
  beforeAll(async () => {
    published = await publishedPackages();
  });

  const entries = [...weights].filter(([, [entry]]) => entry !== '');

  it.each(entries)('of the modules that %s loads does not exceed the documented value', async (name, [entry]) => {
    expect(await gzippedEntry(folderOf(name))).toBeLessThanOrEqual(Number.parseFloat(entry!));
  });

  const imported = [...weights].filter(([, [, files]]) => files !== '');

  it.each(imported)(
    'of the modules that an import of %s loads does not exceed the documented value',
    (name, [, files]) => {
      expect(loadedWith(folderOf(name)).length).toBeLessThanOrEqual(Number(files));
    },
  );

  // Files that take longer to load than an entire small package: engines, file access and logs load them.
  it.each(['compute-engine', 'compute-router', 'qemu'])('of optional modules is not part of %s', (name) => {
    const later = /\/node_modules\/(kysely|pg|better-sqlite3|node-forge|yaml|pino|pino-http|cors)\//;
    expect(loadedWith(folderOf(name)).filter((url) => later.test(url))).toEqual([]);
  });

  it.each([...weights])(
    'of the installation of %s does not exceed the documented value',
    (name, [, , packages, megabytes]) => {
      const weight = installed(folderOf(name));
      expect(weight.packages).toBeLessThanOrEqual(Number(packages));
      expect(weight.megabytes).toBeLessThanOrEqual(Number.parseFloat(megabytes!));
    },
  );
});
