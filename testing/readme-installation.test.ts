import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { packagesMissingInReadme } from './release/projects.mjs';
// @ts-expect-error: scripts have no types
import { uses } from './release/uses.mjs';

const names = Object.keys(uses).filter((name) => uses[name].readme);

it.each(names)('the README of %s installs all packages that its first example imports', (name) => {
  const readme = readFileSync(join(import.meta.dirname, '../packages', name, 'README.md'), 'utf8');
  expect(packagesMissingInReadme(readme)).toEqual([uses[name].readme.program].filter(Boolean));
});
