import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** The projects of one suite, which differ in their database or in the order in which they start. */
const sameSuite = [
  ['sqlite', 'postgres', 'long-postgres', 'long-pgbouncer', 'long-replica'],
  ['sqlite-apart', 'postgres-apart'],
  ['long', 'in-guest-long'],
];
/** Projects that repeat files of other projects with other versions of the frameworks. */
const repeated = ['other-frameworks'];
const suiteOf = (project: string) => sameSuite.find((names) => names.includes(project))?.[0] ?? project;

interface Listed {
  readonly file: string;
  readonly projectName: string;
}

describe('the projects of tests', () => {
  let suites: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'list', '--filesOnly', '--json'];
    const listed: readonly Listed[] = JSON.parse(
      execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const found = new Map<string, readonly string[]>();
    for (const { file, projectName } of listed) {
      if (repeated.includes(projectName)) continue;
      const path = relative(root, file);
      found.set(path, [...new Set([...(found.get(path) ?? []), suiteOf(projectName)])]);
    }
    suites = found;
  });

  it('contain each file exactly once', () => {
    const exclude = (name: string) => /(?:^|\/)(?:node_modules|dist)$/.test(name);
    const files = globSync('{packages,examples}/*/{src,test}/**/*.test.ts', { cwd: root, exclude });
    const all = [...files, ...globSync('testing/**/*.test.ts', { cwd: root })];
    expect(all.length).toBeGreaterThan(350);
    expect([...suites.keys()].sort()).toEqual(all.sort());
    expect([...suites].filter(([, names]) => names.length !== 1)).toEqual([]);
  });

  it('have the tests that only `npm run test:all` runs in folders with the name "long"', () => {
    const misplaced = [...suites].filter(([file, [suite]]) => file.split('/').includes('long') !== (suite === 'long'));
    expect(misplaced).toEqual([]);
  });
});
