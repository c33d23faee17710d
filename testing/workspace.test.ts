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

// `npm run imports` checks what is imported; these are the dependencies that it does not see.
describe('the dependencies between packages', () => {
  it('have a rule for each package', () => {
    expect(packages.map(([name]) => name).sort()).toEqual(readdirSync(join(root, 'packages')).sort());
  });

  it.each(packages)('of %s at run time are all permitted', (name, allowed) => {
    const required = sourcesOf(name)
      .filter(({ text }) => text.includes('createRequire'))
      .flatMap(({ text }) => [...text.matchAll(/require\w*\(\s*'@apistrata\/([^'/]+)/gi)].map(([, id]) => id));
    expect(required.filter((id) => id !== name && !allowed.includes(id ?? ''))).toEqual([]);
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
