import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { manifestOf, supportsCommonJs } from '../scripts/manifests.mjs';
// @ts-expect-error: scripts have no types
import { NAMES, rowsToTest, showsReadme, usesCommonJsTools } from './release/matrix.mjs';
// @ts-expect-error: scripts have no types
import { uses } from './release/uses.mjs';

const module = join(import.meta.dirname, 'release/pairs.mjs');

it('every two values of different factors occur together in the matrix of the release check', () => {
  const factors = { a: [1, 2, 3, 4, 5, 6, 7, 8], b: ['x', 'y', 'z'], c: [true, false], d: ['p', 'q', 'r'] };
  const code = `import('${module}').then((m) => console.log(JSON.stringify(m.pairs(${JSON.stringify(factors)}))))`;
  const rows = JSON.parse(execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }));
  const names = Object.keys(factors) as (keyof typeof factors)[];
  for (const one of names) {
    for (const other of names.filter((name) => name !== one)) {
      const covered = new Set(rows.map((row: any) => `${row[one]} ${row[other]}`));
      expect(covered.size, `${one} and ${other}`).toBe(factors[one].length * factors[other].length);
    }
  }
  // The two factors with the most values need one row for each of their pairs; the others must not add many rows.
  expect(rows.length).toBeLessThan(30);
});

describe('the matrix of the release check', () => {
  const rows = rowsToTest();
  const libraries: readonly string[] = NAMES.filter((name: string) => uses[name].imports);

  it.each(libraries)('runs the README of %s with each package manager', (name) => {
    const shown = rows.filter((row: any) => row.name === name && showsReadme(row));
    expect(new Set(shown.map(({ manager }: any) => manager))).toEqual(new Set(['npm', 'pnpm', 'yarn']));
  });

  const commonjs = libraries.filter((name) => supportsCommonJs(`packages/${name}`));

  it.each(commonjs)('uses %s with the tools of CommonJS projects', (name) => {
    expect(rows.filter((row: any) => row.name === name && usesCommonJsTools(row))).not.toEqual([]);
    expect(Object.keys(manifestOf(`packages/${name}`).exports)).toContain(`./${uses[name].subPath}`);
  });
});
