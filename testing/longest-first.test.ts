import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import LongestFirst, { DURATIONS } from './longest-first.js';

const root = join(import.meta.dirname, '..');
const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(DURATIONS, 'utf8'));

it('begins with the files that took longest, whatever their names and sizes', async () => {
  const paths = [...Object.keys(seconds).sort(), 'testing/longest-first.test.ts'];
  const vitest = { config: { root }, cache: { getFileTestResults: () => undefined, getFileStats: () => undefined } };
  const files = paths.map((path) => ({
    moduleId: join(root, path),
    project: { name: '', config: { sequence: { groupOrder: 0 } } },
  }));
  const sorted = await new LongestFirst(vitest as unknown as Vitest).sort(files as unknown as TestSpecification[]);
  const times = sorted.map(({ moduleId }) => seconds[moduleId.slice(root.length + 1)] ?? 0);
  expect(times.length).toBe(paths.length);
  expect(times).toEqual([...times].sort((a, b) => b - a));
});

it('knows no file that is gone', () => {
  expect(Object.keys(seconds).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
