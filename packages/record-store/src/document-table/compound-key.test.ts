import { expect, it } from 'vitest';
import { compoundKey } from './compound-key.js';

it('a compound key distinguishes all lists of parts', () => {
  expect(compoundKey('ada', 'k1')).toBe('ada/k1');
  expect(compoundKey('a/b', 'c')).not.toBe(compoundKey('a', 'b/c'));
  expect(compoundKey('a%2Fb')).not.toBe(compoundKey('a/b'));
});

it('a compound key replaces unpaired surrogates', () => {
  expect(compoundKey('\ud800', '\u{1f600}')).toBe('%EF%BF%BD/%F0%9F%98%80');
});
