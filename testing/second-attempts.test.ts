import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

it('lists a test that passed at its second attempt, with what was wrong at the first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-attempts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'some.test.mjs'),
    `let attempts = 0;
     it('comes late', () => expect(++attempts).toBe(2));
     it('comes in time', () => {});`,
  );
  const reporter = join(root, 'testing/second-attempts.ts');
  const args = ['run', '--root', folder, '--globals', '--retry', '1', '--reporter', reporter];
  const output = execFileSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
    encoding: 'utf8',
  });
  expect(output).toContain(
    'Passed at the second attempt only (1):\n  some.test.mjs > comes late\n    expected 1 to be 2',
  );
  expect(output).not.toContain('comes in time');
});
