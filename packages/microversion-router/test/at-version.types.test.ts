import { before, between, since, until } from '@apistrata/microversion';
import { describe, expectTypeOf, it } from 'vitest';
import type { AtVersion, CompareVersions } from '../src/types/at-version.js';

describe('versions as types', () => {
  it('compare numerically', () => {
    expectTypeOf<CompareVersions<'2.9', '2.10'>>().toEqualTypeOf<'<'>();
    expectTypeOf<CompareVersions<'2.53', '2.53'>>().toEqualTypeOf<'='>();
    expectTypeOf<CompareVersions<'2.100', '2.53'>>().toEqualTypeOf<'>'>();
    expectTypeOf<CompareVersions<'2025-12-31', '2026-01-01'>>().toEqualTypeOf<'<'>();
    expectTypeOf<CompareVersions<'1.4.10', '1.4.9'>>().toEqualTypeOf<'>'>();
    expectTypeOf<CompareVersions<'9', '10'>>().toEqualTypeOf<'<'>();
  });

  it('select the windows of a value', () => {
    const value = [until('2.9', 'a'), between('2.20', '2.29', 'b'), since('2.40', 'c')] as const;
    type Value = typeof value;
    expectTypeOf<AtVersion<Value, '2.9'>>().toEqualTypeOf<'a'>();
    expectTypeOf<AtVersion<Value, '2.10'>>().toEqualTypeOf<never>();
    expectTypeOf<AtVersion<Value, '2.29'>>().toEqualTypeOf<'b'>();
    expectTypeOf<AtVersion<Value, '2.100'>>().toEqualTypeOf<'c'>();
    expectTypeOf<AtVersion<Value, 'latest'>>().toEqualTypeOf<'c'>();
    expectTypeOf<AtVersion<'plain', '2.1'>>().toEqualTypeOf<'plain'>();
  });

  it('exclude the version passed to before()', () => {
    const value = before('2025-03-01', 'a');
    expectTypeOf<AtVersion<typeof value, '2025-02-28'>>().toEqualTypeOf<'a'>();
    expectTypeOf<AtVersion<typeof value, '2025-03-01'>>().toEqualTypeOf<never>();
  });

  it('include windows whose bounds are not literals', () => {
    const first: string = '2.5';
    const value = since(first, 'a');
    expectTypeOf<AtVersion<typeof value, '2.1'>>().toEqualTypeOf<'a'>();
  });
});
