import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIp, cidrOf, formatCidr, formatIp, ipOf, parseCidr, parseIp } from './ip-address.js';

describe('IP addresses and CIDRs', () => {
  it.each([
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::1', '::1'],
    ['fe80::', 'fe80::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::ffff:a00:1', '::ffff:10.0.0.1'],
    ['::102:304', '::1.2.3.4'],
    ['::babe:220.12.22.2', '::babe:dc0c:1602'],
    ['::1:0', '::0.1.0.0'],
    ['::0.0.1.2', '::102'],
    ['::1:0:0', '::1:0:0'],
    ['10.0.0.1', '10.0.0.1'],
    ['not an address', 'not an address'],
  ])('have a canonical form: %s becomes %s', (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical);
  });

  it('do not change if they are formatted and parsed', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 128n - 1n), (value) => {
        expect(parseIp(formatIp({ version: 6, value }))).toEqual({ version: 6, value });
      }),
    );
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 32n - 1n), (value) => {
        expect(parseIp(formatIp({ version: 4, value }))).toEqual({ version: 4, value });
      }),
    );
  });

  it('are parsed without the bits after the prefix, or as undefined if they are invalid', () => {
    expect(formatCidr(parseCidr('10.1.2.3/16')!)).toBe('10.1.0.0/16');
    expect(formatCidr(parseCidr('fd00::1/64')!)).toBe('fd00::/64');
    for (const wrong of ['10.0.0.0', '10.0.0.0/33', 'x/8', '10.0.0.0/', 'fd00::/129'])
      expect(parseCidr(wrong)).toBe(undefined);
  });

  it('cause `ipOf()` and `cidrOf()` to throw a TypeError if they are invalid', () => {
    expect(cidrOf('10.1.2.3/16')).toEqual(parseCidr('10.1.0.0/16'));
    expect(ipOf('fd00::1')).toEqual(parseIp('fd00::1'));
    expect(() => cidrOf('10.0.0.0/33')).toThrow(new TypeError("'10.0.0.0/33' is not a CIDR"));
    expect(() => ipOf('10.0.0')).toThrow(new TypeError("'10.0.0' is not an IP address"));
  });
});
