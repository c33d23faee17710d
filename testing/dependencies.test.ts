import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedRows, readManifest } from './weights.js';

const root = join(import.meta.dirname, '..');

const names = readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'dist')));
const weights = documentedRows('What is installed');

describe('the page about dependencies', () => {
  const folders = [...names.map((name) => join(root, 'packages', name)), join(root, 'examples/reference-server')];
  const needed = folders.flatMap((folder) => {
    const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder);
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  });
  const others = [...new Set(needed.filter((name) => !name.startsWith('@apistrata/')))].sort();

  it('gives a reason for every runtime dependency, and for nothing else', () => {
    const reasons = documentedRows('Runtime dependencies');
    expect([...reasons.keys()].sort()).toEqual(others);
    for (const [name, [, reason]] of reasons) expect(reason!.length, name).toBeGreaterThan(20);
  });

  it('states the weight of every package', () => {
    expect([...weights.keys()].sort()).toEqual([...names, 'server'].map((name) => `@apistrata/${name}`).sort());
  });
});
