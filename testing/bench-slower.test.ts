import { expect, it } from 'vitest';
// @ts-expect-error: benches have no types
import { slower } from '../bench/slower.mjs';
// @ts-expect-error: benches have no types
import { table } from '../bench/table.mjs';

const results = (rows: readonly object[]) => `# Results\n\n## small\n\nCommit 1.\n\n${table(rows)}\n`;

it('a bench says what became slower than in a former run, by more than the spread of both', () => {
  const before = results([
    { what: 'rate', ours: 1000, unit: 'req/s', spread: 0.05 },
    { what: 'steady rate', ours: 1000, unit: 'req/s', spread: 0.2 },
    { what: 'time', ours: 10, unit: 'ms' },
    { what: 'better', ours: 10, unit: 'ms' },
    { what: 'gone', ours: 1, unit: 'ms' },
    { what: 'other unit', ours: 1, unit: 'ms' },
  ]);
  const after = results([
    { what: 'rate', ours: 800, unit: 'req/s', spread: 0.05 },
    { what: 'steady rate', ours: 800, unit: 'req/s', spread: 0.2 },
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
