import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../scripts/test.mjs');
const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
const all = ['setup', 'build', 'lint', 'prose', 'imports', 'knip', 'check:tests', 'packages:check'];
const folder = mkdtempSync(join(tmpdir(), 'apistrata-test-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// A fake npm that logs its start and end, and fails for one script.
const FAKE_NPM = `#!/bin/sh
echo "start $*" >> "$LOG"
[ "$3" = "$REFUSED" ]; refused=$?
echo "output of $3"
echo "end $*" >> "$LOG"
[ $refused -ne 0 ]
`;
writeFileSync(join(folder, 'npm'), FAKE_NPM);
chmodSync(join(folder, 'npm'), 0o755);

/** Returns the scripts that `npm test` runs: checks in the order of `all`, then the others in the order of their start. */
function steps(args: readonly string[], rejected = '') {
  const LOG = join(mkdtempSync(join(folder, 'log-')), 'log');
  const PATH = [folder, process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH, REFUSED: rejected, LOG };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
  const log = readFileSync(LOG, 'utf8').trim().split('\n');
  const started = log.filter((line) => line.startsWith('start ')).map((line) => line.replace('start run -s ', ''));
  const rank = (step: string) => (all.includes(step) ? all.indexOf(step) : all.length);
  return { status, stdout, stderr, log, requested: started.sort((one, other) => rank(one) - rank(other)) };
}

describe('npm test', () => {
  it('checks everything and runs all but the long tests', () => {
    expect(steps([])).toMatchObject({ status: 0, requested: [...all, 'vitest -- --project !*long*'] });
  });

  it('also runs the long tests with npm run test:all', () => {
    expect(manifest.scripts['test:all']).toBe(`${manifest.scripts.test} --all`);
    expect(steps(['--all']).requested).toEqual([...all, 'vitest --']);
    expect(steps(['--all', 'packages/quota']).requested.at(-1)).toBe('vitest -- packages/quota');
  });

  it('runs the tests that the changes since a commit can affect, and the tests of the project', () => {
    const project = 'vitest -- testing/ --project sqlite-apart';
    const changed = (...args: readonly string[]) => steps(['--changed', ...args]).requested.slice(all.length);
    const since = (commit: string) => `vitest -- --project !*long* --passWithNoTests --changed ${commit}`;
    expect(changed('HEAD', '-t', 'x')).toEqual([project, since('HEAD -t x')]);
    const [own, affected] = changed('--bail', '1');
    expect([own, affected]).toEqual([project, expect.stringMatching(/--changed (?:origin\/)?main --bail 1$/)]);
    expect(steps(['--all', '--changed', 'HEAD']).requested.at(-1)).toBe('vitest -- --passWithNoTests --changed HEAD');
  });

  it('runs only the selected tests, without linting', () => {
    const { requested: request } = steps(['packages/quota', '-t', 'is exact']);
    expect(request).toEqual(['setup', 'build', 'vitest -- packages/quota -t is exact']);
  });

  it('starts the checks of the build after the build, and the tests after all checks', () => {
    const { log, stdout } = steps([]);
    const at = (event: string, step: string) => log.indexOf(`${event} run -s ${step}`);
    expect(at('start', 'build')).toBeGreaterThan(at('end', 'setup'));
    for (const step of ['check:tests', 'packages:check']) expect(at('start', step)).toBeGreaterThan(at('end', 'build'));
    expect(log.slice(-2)).toEqual(['start', 'end'].map((event) => `${event} run -s vitest -- --project !*long*`));
    for (const step of all) expect(stdout).toContain(`output of ${step}`);
  });

  it('starts no more steps after one has failed, and names it', () => {
    const { status, requested, stderr } = steps([], 'lint');
    expect(status).toBe(1);
    expect(requested.slice(0, 3)).toEqual(['setup', 'build', 'lint']);
    expect(requested).not.toContain('check:tests');
    expect(requested).not.toContain('vitest -- --project !*long*');
    expect(stderr).toContain('Linting: failed. `npm run lint`');
  });
});
