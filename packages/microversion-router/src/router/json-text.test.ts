import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from './json-text.js';

const values: readonly unknown[] = [
  undefined,
  null,
  true,
  -0,
  1e21,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  'a "quoted" \\ text',
  'line\nend',
  '\u007f\u2028\ufffe',
  '\ud83d\ude80',
  'half of one: \ud83d',
  new Date(0),
  () => 1,
  Symbol('s'),
  { a: undefined, b: [undefined, 'é'] },
];

describe('jsonText()', () => {
  it.each(values.map((value) => [value]))('returns the same as JSON.stringify for %j', (value) => {
    expect(jsonText(value)).toBe(JSON.stringify(value));
  });

  it('returns the same as JSON.stringify for any value', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.double(),
      fc.anything(),
    );
    fc.assert(
      fc.property(
        anything.filter((value) => !/bigint/i.test(typesIn(value))),
        (value) => jsonText(value) === JSON.stringify(value),
      ),
    );
  });
});

/** Returns the types of a value and its contents, to exclude BigInts, which both functions reject. */
function typesIn(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? [...Object.values(value), ...(Symbol.iterator in value ? [...(value as Iterable<unknown>)] : [])]
        .map(typesIn)
        .join()
    : typeof value;
}
