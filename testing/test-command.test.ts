import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../scripts/test.mjs');
const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
const all = ['setup', 'build', 'lint', 'prose', 'check:tests', 'imports', 'knip', 'packages:check'];
const folder = mkdtempSync(join(tmpdir(), 'apistrata-test-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// A fake npm that prints its arguments, and fails for one script.
writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "requested: $*"\n[ "$3" != "$REFUSED" ]\n');
chmodSync(join(folder, 'npm'), 0o755);

function steps(args: readonly string[], rejected = '') {
  const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter), REFUSED: rejected };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
  const requested = [...stdout.matchAll(/requested: run -s (.*)/g)].map(([, step]) => step!.trim());
  return { status, stderr, requested };
}

describe('npm test', () => {
  it('checks everything and runs all but the long tests', () => {
    expect(steps([])).toMatchObject({ status: 0, requested: [...all, 'vitest -- --project !long*'] });
  });

  it('also runs the long tests with npm run test:all', () => {
    expect(manifest.scripts['test:all']).toBe(`${manifest.scripts.test} --all`);
    expect(steps(['--all']).requested).toEqual([...all, 'vitest --']);
    expect(steps(['--all', 'packages/quota']).requested.at(-1)).toBe('vitest -- packages/quota');
  });

  it('runs the tests that the changes since a commit can affect, and the tests of the project', () => {
    const project = 'vitest -- testing/ --project sqlite-apart';
    const changed = (...args: readonly string[]) => steps(['--changed', ...args]).requested.slice(all.length);
    const since = (commit: string) => `vitest -- --project !long* --passWithNoTests --changed ${commit}`;
    expect(changed('HEAD', '-t', 'x')).toEqual([project, since('HEAD -t x')]);
    const [own, affected] = changed('--bail', '1');
    expect([own, affected]).toEqual([project, expect.stringMatching(/--changed (?:origin\/)?main --bail 1$/)]);
    expect(steps(['--all', '--changed', 'HEAD']).requested.at(-1)).toBe('vitest -- --passWithNoTests --changed HEAD');
  });

  it('runs only the selected tests, without linting', () => {
    const { requested: request } = steps(['packages/quota', '-t', 'is exact']);
    expect(request).toEqual(['setup', 'build', 'vitest -- packages/quota -t is exact']);
  });

  it('stops at the failed step, and names it', () => {
    const { status, requested, stderr } = steps([], 'lint');
    expect([status, requested]).toEqual([1, ['setup', 'build', 'lint']]);
    expect(stderr).toContain('Linting: failed. `npm run lint`');
  });
});
