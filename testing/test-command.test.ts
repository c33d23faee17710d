import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, '../scripts/test.mjs');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-test-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// An npm that says what it is asked for, and refuses to lint.
writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "asked: $*"\n[ "$3" != "$REFUSED" ]\n');
chmodSync(join(folder, 'npm'), 0o755);

function steps(args: readonly string[], refused = '') {
  const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter), REFUSED: refused };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' });
  const asked = [...stdout.matchAll(/asked: run -s (.*)/g)].map(([, step]) => step!.trim());
  return { status, stderr, asked };
}

describe('npm test', () => {
  it('does everything', () => {
    const all = ['setup', 'build', 'lint', 'prose', 'check:tests', 'knip', 'packages:check', 'vitest --'];
    expect(steps([])).toMatchObject({ status: 0, asked: all });
  });

  it('runs what is chosen, and lints nothing then', () => {
    const { asked } = steps(['packages/quota', '-t', 'is exact']);
    expect(asked).toEqual(['setup', 'build', 'vitest -- packages/quota -t is exact']);
  });

  it('ends with the step that failed, and says which it was', () => {
    const { status, asked, stderr } = steps([], 'lint');
    expect([status, asked]).toEqual([1, ['setup', 'build', 'lint']]);
    expect(stderr).toContain('Linting: failed. `npm run lint`');
  });
});
