import { describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { tarOf } from '../scripts/container/tar.mjs';

/** Returns the fields of the header of an archive with one file. */
function headerOf(path: string) {
  const archive: Buffer = tarOf([{ path, type: 'file', mode: 0o644 }]);
  const text = (from: number, length: number) => archive.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  return { name: text(0, 100), mode: text(100, 8), prefix: text(345, 155) };
}

describe('a path in a tar archive', () => {
  const mode = '0000644';

  it.each([
    ['a'.repeat(100), ''],
    ['ü'.repeat(50), ''],
    ['b'.repeat(100), 'a'.repeat(155)],
    ['ü'.repeat(50), 'ä'.repeat(77)],
    [`${'ü'.repeat(49)}ab`, 'ä'],
  ])('is split into parts with a limited number of bytes: %s', (name, prefix) => {
    expect(headerOf(prefix ? `${prefix}/${name}` : name)).toEqual({ name, mode, prefix });
  });

  it.each(['ü'.repeat(51), `a/${'ü'.repeat(51)}`, `${'ä'.repeat(78)}/${'b'.repeat(100)}`])(
    'is rejected if a part has too many bytes: %s',
    (path) => {
      expect(() => tarOf([{ path, type: 'file', mode: 0o644 }])).toThrow('is too long for a tar archive');
    },
  );
});
