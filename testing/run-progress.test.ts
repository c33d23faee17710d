import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TestModule, TestSpecification } from 'vitest/node';
import RunProgress from './run-progress.js';

const root = join(import.meta.dirname, '..');

describe('the progress of a long run', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const moduleOf = (...states: readonly string[]) =>
    ({
      state: () => 'passed',
      children: { allTests: () => states.map((state) => ({ result: () => ({ state }) })) },
    }) as unknown as TestModule;

  function shownAfter(ms: number, out: { readonly isTTY: boolean; readonly columns?: number }, files = 30): string {
    let shown = '';
    const progress = new RunProgress({ out: { ...out, write: (text) => void (shown += text) } });
    progress.onTestRunStart(Array.from({ length: files }, () => ({}) as TestSpecification));
    if (files > 20) progress.printTestModule(moduleOf('passed', 'passed', 'skipped'));
    vi.advanceTimersByTime(ms);
    return shown;
  }

  it('is one line per minute', () => {
    expect(shownAfter(59_000, { isTTY: false })).toBe('');
    expect(shownAfter(120_000, { isTTY: false })).toBe(
      '1 of 30 files: 2 passed, 0 failed, 1 skipped, 1.0 min\n1 of 30 files: 2 passed, 0 failed, 1 skipped, 2.0 min\n',
    );
  });

  it('is one line on a terminal that is rewritten, and never longer than the width of the terminal', () => {
    const lines = shownAfter(6_000, { isTTY: true, columns: 20 }).split('\r\x1b[2K');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.at(-1)).toBe('1 of 30 files: 2 pa');
  });

  it('is not shown for a few files', () => {
    expect(shownAfter(600_000, { isTTY: false }, 3)).toBe('');
  });
});

describe('a run', () => {
  function run(files: number): string {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-progress-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (let i = 0; i < files; i++) writeFileSync(join(folder, `good-${i}.test.mjs`), "it('is good', () => {});");
    writeFileSync(join(folder, 'bad.test.mjs'), "it('is bad', () => expect(1).toBe(2));");
    const reporter = join(root, 'testing/run-progress.ts');
    const args = ['run', '--root', folder, '--globals', '--no-isolate', '--reporter', reporter];
    const env = { ...process.env, NO_COLOR: '1' };
    return spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
      env,
      encoding: 'utf8',
    }).stdout;
  }

  it('of many files lists those that failed, with the cause, and the slowest', () => {
    const [beforeEnd = '', slowest = ''] = run(21).split('The slowest of 22 files:');
    expect(beforeEnd).toMatch(
      /bad\.test\.mjs \(1 test \| 1 failed\)[\s\S]*is bad[\s\S]*Tests {2}1 failed \| 21 passed \(22\)/,
    );
    expect(beforeEnd).not.toContain('good-');
    expect(slowest.match(/\d s {2}\S+\.test\.mjs/g)).toHaveLength(5);
  });

  it('of a few files lists each file', () => {
    expect(run(2)).toMatch(/good-1\.test\.mjs/);
  });
});
