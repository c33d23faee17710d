import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error: benches have no types
import { boundsOf } from '../../bench/budget.mjs';
// @ts-expect-error: benches have no types
import { documents, withFigures } from '../../bench/figures.mjs';
// @ts-expect-error: benches have no types
import { missedBudgets, missesOf } from '../../bench/missed-budgets.mjs';
// @ts-expect-error: benches have no types
import { rowsOf } from '../../bench/results.mjs';
// @ts-expect-error: benches have no types
import { slower } from '../../bench/slower.mjs';
// @ts-expect-error: benches have no types
import { table } from '../../bench/table.mjs';

const root = join(import.meta.dirname, '../..');
const bench = join(root, 'bench');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const results = (rows: readonly object[]) => `# Results\n\n## small\n\nCommit 1.\n\n${table(rows)}\n`;

/** Runs `npm run bench` after everything is built. */
function runBench(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['run.mjs', ...args], {
    cwd: bench,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('a table of results', () => {
  it('has medians with minimum and maximum, and the ratio of alternating measurements', () => {
    const rows = [
      { what: 'both', ours: [1, 3, 2], baseline: [2, 2, 4], unit: 'ms', budget: '<= 1 x' },
      { what: 'one sample each', ours: 3, baseline: 4, unit: 'ms' },
      { what: 'an even count', ours: [4, 1, 3, 2], unit: 'us' },
      { what: 'no baseline', ours: [1, 2, 3], baseline: [0, 0, 1], unit: 'ms' },
      { what: 'not here' },
    ];
    expect(table(rows).split('\n').slice(2)).toEqual([
      '| both | 2 (1 to 3) | 2 (2 to 4) | ms | 0.5 (0.5 to 1.5) | <= 1 x |  |',
      '| one sample each | 3 | 4 | ms | 0.75 |  |  |',
      '| an even count | 2.5 (1 to 4) |  | us |  |  |  |',
      '| no baseline | 2 (1 to 3) | 0 (0 to 1) | ms |  |  |  |',
      '| not here |  |  |  |  |  |  |',
    ]);
  });

  it('has the reasons of the rows that miss their budgets, by absolute, relative and added bounds', () => {
    const reason = 'slow disk';
    const budgets = [
      { what: 'met', ours: 1, budget: '<= 1 ms' },
      { what: 'too slow', ours: 2, budget: '<= 1 ms' },
      { what: 'too few', ours: 1499, budget: '>= 1,500/s' },
      { what: 'not zero', ours: 1, budget: '<= 0' },
      { what: 'ratio too high', ours: 3, baseline: 2, budget: '<= 20 ms, <= 1.3 x' },
      { what: 'added too much', ours: 1.2, baseline: 1, budget: '<= bare + 0.12 ms' },
      { what: 'added little', ours: 1.1, baseline: 1, budget: '<= bare + 0.12 ms' },
    ];
    const text = results(budgets.map((row) => ({ ...row, reason, unit: 'ms' })));
    const missed = ['too slow', 'too few', 'not zero', 'ratio too high', 'added too much'];
    expect(missesOf(text)).toEqual(missed.map((what) => [`small: ${what}`, expect.objectContaining({ reason })]));
    expect(missedBudgets(text)).toContain('| small: ratio too high | 3 ms, 1.5 x | <= 20 ms, <= 1.3 x | slow disk |');
  });

  it('attributes a miss without a known reason to the spread only if some samples meet the budget', () => {
    const rows = [
      { what: 'wide', ours: [1, 3, 4], unit: 'ms', budget: '<= 2 ms' },
      { what: 'known', ours: [1, 3, 4], unit: 'ms', budget: '<= 2 ms', reason: 'slow disk' },
      { what: 'narrow', ours: [3, 3, 4], unit: 'ms', budget: '<= 2 ms' },
      { what: 'one of two bounds', ours: [3, 3, 4], baseline: [2, 2, 4], unit: 'ms', budget: '<= 2 ms, <= 1.3 x' },
    ];
    expect(missesOf(results(rows)).map(([, row]: [string, { reason: string }]) => row.reason)).toEqual([
      'the budget is within the spread of the samples',
      'slow disk',
      '',
      '',
    ]);
  });

  it('has one row for each name', () => {
    const row = { what: 'same', ours: 1, unit: 'ms' };
    expect(() => table([row, row])).toThrow('two rows are named "same"');
  });
});

describe('the results', () => {
  const text = readFileSync(join(bench, 'RESULTS.md'), 'utf8');
  type Subject = [subject: string, row: { budget: string; reason: string }];

  it('give a reason for each missed budget', () => {
    const subjects = (missesOf(text) as Subject[]).filter(([, { reason }]) => !reason).map(([subject]) => subject);
    expect(subjects, 'set `reason` next to `budget` in the section').toEqual([]);
    expect(text).toContain(missedBudgets(text));
  });

  it('contain only budgets that can be compared with figures', () => {
    const rows = [...(rowsOf(text) as Map<string, Subject[1]>)];
    const subjects = rows.filter(([, { budget }]) => budget !== '' && boundsOf(budget).length === 0);
    expect(subjects.map(([subject]) => subject)).toEqual([]);
  });
});

describe('regressions since a former run', () => {
  it('are reported only beyond the spread of both runs', () => {
    const before = results([
      { what: 'rate', ours: [980, 1000, 1030], unit: 'req/s' },
      { what: 'unsteady rate', ours: [900, 1000, 1100], unit: 'req/s' },
      { what: 'time', ours: 10, unit: 'ms' },
      { what: 'better', ours: 10, unit: 'ms' },
      { what: 'gone', ours: 1, unit: 'ms' },
      { what: 'other unit', ours: 1, unit: 'ms' },
    ]);
    const after = results([
      { what: 'rate', ours: [780, 800, 820], unit: 'req/s' },
      { what: 'unsteady rate', ours: [700, 800, 820], unit: 'req/s' },
      { what: 'time', ours: 13, unit: 'ms' },
      { what: 'better', ours: 5, unit: 'ms' },
      { what: 'new', ours: 100, unit: 'ms' },
      { what: 'other unit', ours: 100, unit: 'us' },
    ]);
    expect(slower(before, after)).toEqual([
      'small: rate: 1000 -> 800 req/s, 1.25 x (up to 1.10 x is spread)',
      'small: time: 10 -> 13 ms, 1.30 x (up to 1.20 x is spread)',
    ]);
    expect(slower(before, before)).toEqual([]);
  });

  it('are determined from ratios if both runs have them, because the load of the machine may differ', () => {
    const before = results([{ what: 'rate', ours: [100, 101], baseline: [100, 101], unit: 'req/s' }]);
    const busier = results([{ what: 'rate', ours: [50, 51], baseline: [50, 51], unit: 'req/s' }]);
    const slow = results([{ what: 'rate', ours: [50, 51], baseline: [100, 101], unit: 'req/s' }]);
    expect(slower(before, busier)).toEqual([]);
    expect(slower(before, slow)).toEqual([
      'small: rate: 1 -> 0.5025 x of its baseline, 1.99 x (up to 1.01 x is spread)',
    ]);
  });
});

describe('the figures of documents', () => {
  const text = readFileSync(join(bench, 'RESULTS.md'), 'utf8');

  it.each(documents() as string[])('%s equal the results', (path) => {
    const document = readFileSync(path, 'utf8');
    expect(document, '`npm run bench -- --figures` writes them').toBe(withFigures(document, text));
  });

  it('are written from the results, rounded', () => {
    const found = results([{ what: 'a/b', ours: [1234.5, 1239], baseline: 1000, unit: 'req/s' }]);
    const document = '| <!-- ours of small: a/b -->9 req/s<!-- --> | <!-- ratio of small: a/b --><!-- --> |';
    expect(withFigures(document, found)).toBe(
      '| <!-- ours of small: a/b -->1,240 req/s<!-- --> | <!-- ratio of small: a/b -->1.2 x<!-- --> |',
    );
    expect(() => withFigures('<!-- ours of small: gone -->9<!-- -->', found)).toThrow(
      'the results have no ours of "small: gone"',
    );
  });
});

describe('npm run bench', () => {
  it('lists its sections, which can be loaded separately', () => {
    const { status, stdout } = runBench('--help');
    expect(status).toBe(0);
    const [, list = ''] = /or all: (.*)/.exec(stdout) ?? [];
    const sections = list.split(', ');
    const modules = readdirSync(bench).map((name) => name.replace('.mjs', ''));
    expect(sections.filter((name) => !modules.includes(name))).toEqual([]);
    expect(sections).toContain('quota');
    const script = `for (const name of ${JSON.stringify(sections)})
      if (typeof (await import('./' + name + '.mjs')).run !== 'function') throw new Error(name);
      process.exit(0);`;
    // Modules that compare their path with `process.argv[1]` require a first argument.
    const args = ['--input-type=module', '--eval', script, 'sections'];
    expect(spawnSync(process.execPath, args, { cwd: bench, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('runs small sections, keeps the results of others, and reports regressions', () => {
    const output = join(folder, 'RESULTS.md');
    writeFileSync(output, results([{ what: 'kept', ours: 1, unit: 'ms' }]));
    const former = join(folder, 'former.md');
    const row = { what: 'memory, consume, 64 at once, next to one consume', ours: 1e9, baseline: 1, unit: 'op/s' };
    writeFileSync(former, results([row]).replace('## small', '## quota'));
    const sections = ['observers', 'quota'];
    const { status, stdout, stderr } = runBench('--quick', '--output', output, '--compare', former, ...sections);
    expect(stderr).toBe('');
    expect(stdout).toContain(`# slower than before\nquota: ${row.what}: 1000000000 -> `);
    expect(status).toBe(1);
    const written = readFileSync(output, 'utf8');
    expect(written.match(/^## .*$/gm)).toEqual([...sections, 'small'].map((name) => `## ${name}`));
    expect(written).toContain('| kept | 1 |');
    expect(written).toMatch(/^Commit .*, quick; \d+ s; load of the machine [\d.]+ before, [\d.]+ after\.$/m);
    for (const section of sections) expect(written.split(`## ${section}\n`)[1]).toMatch(/^\| [^|]+ \| [\d.]+/m);
  }, 180_000);

  it('rejects unknown sections, options and files', () => {
    expect(runBench('nothing')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('unknown section nothing'),
    });
    expect(runBench('--slow')).toMatchObject({ status: 2, stderr: expect.stringContaining("'--slow'") });
    expect(runBench('--compare', 'gone.md')).toMatchObject({ status: 2, stderr: expect.stringContaining('gone.md') });
  });
});
