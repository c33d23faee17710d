import { describe, expect, it } from 'vitest';
import { subscribedTypes } from './subscribed-types.js';

describe('subscribedTypes', () => {
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
  ])('for pattern %s and type %s is %s', (pattern, type, requested) => {
    expect(subscribedTypes([pattern])(type)).toBe(requested);
  });

  it('accepts any of several types, and all if none is given', () => {
    const accepts = subscribedTypes(['server.*', 'instance.delete.end']);
    expect([accepts('server.x'), accepts('instance.delete.end'), accepts('instance.delete.start')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([subscribedTypes([])('x'), subscribedTypes(undefined)('x')]).toEqual([true, true]);
  });

  // A backtracking matcher would practically never finish.
  it('takes linear time for patterns that provoke backtracking', () => {
    const pattern = `${'*a'.repeat(100)}x`;
    expect(subscribedTypes(Array.from({ length: 32 }, () => pattern))('a'.repeat(10_000))).toBe(false);
    expect(subscribedTypes([`${'*'.repeat(40)}x`])('instance.create.end')).toBe(false);
  });

  it('rejects more than 32 types, and types longer than 255 characters', () => {
    expect(() => subscribedTypes(Array.from({ length: 33 }, () => 'x'))).toThrow(
      new TypeError('At most 32 event types are allowed, not 33.'),
    );
    expect(() => subscribedTypes(['x'.repeat(256)])).toThrow(
      new TypeError('An event type can have at most 255 characters, not 256.'),
    );
    expect(subscribedTypes(Array.from({ length: 32 }, () => 'x'.repeat(255)))('x')).toBe(false);
  });
});
