import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { documentedRows, gzippedEntry, installed, loadedWith, publishedPackages } from '../weights.js';

const weights = documentedRows('What is installed');

// The table is the budget: if a figure grows beyond it, the table must be changed, which reviewers see.
describe('the weight', () => {
  let published: string;
  const folderOf = (name: string) => join(published, name.replace('@apistrata/', ''));
  beforeAll(async () => {
    const project = mkdtempSync(join(tmpdir(), 'apistrata-weights-'));
    published = await publishedPackages(project);
    return () => rmSync(project, { recursive: true, force: true });
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
  const later = /\/node_modules\/(kysely|pg|better-sqlite3|node-forge|yaml|pino|pino-http|cors)\//;

  it.each(['compute-engine', 'compute-router', 'qemu'])('of optional modules is not part of %s', (name) => {
    expect(loadedWith(folderOf(name)).filter((url) => later.test(url))).toEqual([]);
  });

  it('of optional modules is part of record-store, which stores records with the SQL library', () => {
    expect(loadedWith(folderOf('record-store'))).toContainEqual(expect.stringMatching(later));
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
