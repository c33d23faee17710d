import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { causeOf } from '../scripts/cause-of.mjs';
// @ts-expect-error: scripts have no types
import { startProgress } from '../scripts/progress.mjs';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-progress-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const log = join(folder, 'start.log');

function stream(isTTY: boolean) {
  const out = { text: '', isTTY, columns: 60, write: (text: string) => (out.text += text) };
  return out;
}

describe('the progress of a start', () => {
  it('is one line that is updated, on a terminal', async () => {
    const out = stream(true);
    const progress = startProgress({ log, steps: 2, out });
    await progress.step('Installing', 'Try again.', async (show: (detail: string) => void) => {
      show('3 of 9');
      await expect.poll(() => out.text).toMatch(/\[0\/2\] Installing \(3 of 9\) \.\.\. \d+ s$/);
    });
    await progress.step('Bundling with a name that is much longer than the terminal is wide', '', async () => {
      await expect.poll(() => out.text).toContain('[1/2] Bundling');
    });
    await progress.end();
    expect(out.text).not.toContain('\n');
    const lines = out.text.split('\r\x1b[2K');
    expect(Math.max(...lines.map((line) => line.length))).toBe(59);
    expect(lines.at(-1)).toBe('');
  });

  it('is a line for each step otherwise, and the output of the programs is in the log', async () => {
    const out = stream(false);
    const progress = startProgress({ log, steps: 2, out });
    const lines: string[] = [];
    const program = (code: string) => () =>
      progress.run(process.execPath, ['-e', code], { onLine: (line: string) => lines.push(line) });
    await progress.step('First', '', program('console.log("42 modules")'));
    const failing = progress.step(
      'Second',
      'Try again.',
      program('console.error("npm error it broke"); process.exit(3)'),
    );
    await expect(failing).rejects.toMatchObject({ message: 'Second failed: it broke', remedy: 'Try again.', log });
    await progress.end();
    expect(out.text).toBe('First ...\nSecond ...\n');
    expect(lines).toContain('42 modules');
    expect(readFileSync(log, 'utf8')).toMatch(/-e console\.log.*\n42 modules\n[\s\S]*npm error it broke\n/);
  });

  it.each([
    [
      'npm error code E404\nnpm error 404 Not Found - GET http://r/pnpm\nnpm error A complete log',
      '404 Not Found - GET http://r/pnpm',
    ],
    [
      ' ERR_PNPM_FETCH_401  GET http://r/zod: Unauthorized\n\nmore',
      'ERR_PNPM_FETCH_401  GET http://r/zod: Unauthorized',
    ],
    ['Error: Build failed with 1 error:\n\nError: \x1b[33mCould not resolve x\x1b[0m\n at y', 'Could not resolve x'],
    ['one\nlast line\n\n', 'last line'],
    ['', undefined],
  ])('contains the cause from %j', (output, cause) => {
    expect(causeOf(output)).toBe(cause);
  });
});
