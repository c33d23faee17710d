import { describe, expect, it } from 'vitest';
import { wantedTypes } from './wanted-types.js';

describe('wantedTypes', () => {
  it.each([
    ['instance.create.end', 'instance.create.end', true],
    ['instance.create.end', 'instance.create.ends', false],
    ['instance.*', 'instance.create.end', true],
    ['instance.*', 'instance.', true],
    ['instance.*', 'instances', false],
    ['*.end', 'instance.create.end', true],
    ['*.end', 'instance.create.end.x', false],
    ['instance.*.end', 'instance.create.end', true],
    ['instance.*.end', 'instance.end', false],
    ['in*in', 'in', false],
    ['*create*', 'instance.create.end', true],
    ['*e*e*e*e*', 'instance.create.end', true],
    ['*e*e*e*e*e*', 'instance.create.end', false],
    ['a*ab*b', 'aabb', true],
    ['a*ab*b', 'aab', false],
    ['*', '', true],
    ['instance.(create|delete).*', 'instance.create.end', false],
  ])('says of %s and %s: %s', (pattern, type, wanted) => {
    expect(wantedTypes([pattern])(type)).toBe(wanted);
  });

  it('takes any of several types, and all when none is named', () => {
    const wants = wantedTypes(['server.*', 'instance.delete.end']);
    expect([wants('server.x'), wants('instance.delete.end'), wants('instance.delete.start')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([wantedTypes([])('x'), wantedTypes(undefined)('x')]).toEqual([true, true]);
  });

  // A backtracking engine needs longer for this than the universe will last.
  it('needs no time for patterns that are made to take it', () => {
    const pattern = `${'*a'.repeat(100)}x`;
    expect(wantedTypes(Array.from({ length: 32 }, () => pattern))('a'.repeat(10_000))).toBe(false);
    expect(wantedTypes([`${'*'.repeat(40)}x`])('instance.create.end')).toBe(false);
  });

  it('refuses more than 32 types, and longer ones than 255 characters', () => {
    expect(() => wantedTypes(Array.from({ length: 33 }, () => 'x'))).toThrow(
      new TypeError('At most 32 event types can be named, not 33.'),
    );
    expect(() => wantedTypes(['x'.repeat(256)])).toThrow(
      new TypeError('An event type has at most 255 characters, not 256.'),
    );
    expect(wantedTypes(Array.from({ length: 32 }, () => 'x'.repeat(255)))('x')).toBe(false);
  });
});
