import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: configurations have no types
import { PACKAGES } from '../.dependency-cruiser.mjs';

const root = join(import.meta.dirname, '..');
const packages: [name: string, allowed: readonly string[]][] = Object.entries(PACKAGES);

/** The sources of a package, with their texts. */
function sourcesOf(name: string): readonly { readonly file: string; readonly text: string }[] {
  const folder = join(root, 'packages', name, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
}

/** Packages that a package imports under a name that is not written in the import itself. */
const LOADED: Readonly<Record<string, readonly string[]>> = { explorer: ['compute-router'] };

/** Returns the packages whose entry points are named by strings in a source outside of imports. */
function packagesInStrings(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm, '');
  const names = code.matchAll(/(?<!\b(?:from|import)\s*\(?\s*)(['"`])@apistrata\/([\w-]+)[\w/-]*\1/g);
  return [...names].map(([, , name = '']) => name);
}

// `npm run imports` checks what is imported; these are the dependencies that it does not see.
describe('the dependencies between packages', () => {
  it('have a rule for each package', () => {
    expect(packages.map(([name]) => name).sort()).toEqual(readdirSync(join(root, 'packages')).sort());
  });

  it('consist of imports, except those of packages that are loaded by name', () => {
    const names = new Set(packages.map(([name]) => name));
    const loaded = packages.map(([name]) => {
      const named = new Set(sourcesOf(name).flatMap(({ text }) => packagesInStrings(text)));
      return [name, [...named].filter((other) => other !== name && names.has(other))] as const;
    });
    expect(Object.fromEntries(loaded.filter(([, named]) => named.length > 0))).toEqual(LOADED);
  });

  it('include no package that quota always needs', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages/quota/package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependenciesMeta['@apistrata/microversion']).toEqual({ optional: true });
  });
});

describe('the engine', () => {
  it('sends commands to machines in one module only', () => {
    const sending = sourcesOf('compute-engine').filter(
      ({ file, text }) => /driver\b[^;\n]*\.perform\(/.test(text) && !file.startsWith('testing/'),
    );
    expect(sending.map(({ file }) => file)).toEqual(['drivers/machines.ts']);
  });
});
