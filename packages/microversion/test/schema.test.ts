import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { derive, type Infer, many, object, once, one, query } from '../src/schema/index.js';
import { Version } from '../src/version.js';
import { between, since, until } from '../src/windowed.js';

const v = Version.of;

const keypair = object({
  name: [until('2.91', z.string().max(5)), since('2.92', z.string().max(9))],
  public_key: [until('2.91', z.string().optional()), since('2.92', z.string())],
  type: since('2.2', z.enum(['ssh', 'x509']).default('ssh')),
  tag: [between('2.32', '2.36', z.string()), since('2.42', z.string())],
});

describe('a versioned object', () => {
  it('has exactly the fields of the version, and rejects others', () => {
    expect(keypair.check(v('2.1')).safeParse({ name: 'a' })).toMatchObject({ success: true, data: { name: 'a' } });
    expect(keypair.check(v('2.1')).safeParse({ name: 'a', type: 'ssh' }).success).toBe(false);
    expect(keypair.check(v('2.2')).safeParse({ name: 'a' })).toMatchObject({ data: { name: 'a', type: 'ssh' } });
    expect(keypair.check(v('2.40')).safeParse({ name: 'a', tag: 't' }).success).toBe(false);
    expect(keypair.check(v('2.92')).safeParse({ name: 'a', tag: 't' }).success).toBe(false);
    expect(keypair.check(v('2.92')).safeParse({ name: 'abcdefg', tag: 't', public_key: 'k' }).success).toBe(true);
  });

  it('is built once for all versions between two breakpoints', () => {
    expect(keypair.at(v('2.3'))).toBe(keypair.at(v('2.31')));
    expect(keypair.at(v('2.31'))).not.toBe(keypair.at(v('2.32')));
    expect(keypair.breakpoints.map(String)).toEqual(['2.2', '2.32', '2.37', '2.42', '2.92']);
  });

  it('infers fields of some versions as optional', () => {
    type Keypair = Infer<typeof keypair>;
    expectTypeOf<Keypair>().toEqualTypeOf<{
      readonly name: string;
      readonly public_key?: string | undefined;
      readonly type?: 'ssh' | 'x509' | undefined;
      readonly tag?: string | undefined;
    }>();
  });

  it('includes the history of nested values', () => {
    const body = object({ keypairs: derive(keypair, (k) => k.array().max(1)) });
    expect(body.breakpoints).toEqual(keypair.breakpoints);
    expect(body.check(v('2.2')).safeParse({ keypairs: [{ name: 'a' }] }).success).toBe(true);
    expect(body.check(v('2.1')).safeParse({ keypairs: [{ name: 'a', type: 'ssh' }] }).success).toBe(false);
  });

  it('can reject unknown keys starting with a version', () => {
    const loose = object({ a: z.string() }, { extra: [until('2.74', 'ignore'), since('2.75', 'reject')] });
    expect(loose.check(v('2.74')).safeParse({ a: 'x', b: 1 })).toEqual({ success: true, data: { a: 'x' } });
    expect(loose.check(v('2.75')).safeParse({ a: 'x', b: 1 }).success).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString'])('treats the key %s as unknown', (key) => {
    const hostile = JSON.parse(`{"name":"a","${key}":{"x":1}}`);
    expect(keypair.check(v('2.1')).safeParse(hostile).success).toBe(false);
    expect(({} as any).x).toBeUndefined();
  });
});

describe('a versioned query', () => {
  const list = query(
    {
      limit: one(z.string().regex(/^\d+$/).transform(Number)),
      'not-tags': since('2.26', many(z.string())),
      marker: once(z.string()),
    },
    { extra: [until('2.74', 'ignore'), since('2.75', 'reject')] },
  );
  const parse = (text: string, version: string) => list.parse(new URLSearchParams(text), v(version));

  it('includes changes inside a parameter that has its own window', () => {
    const size = derive([until('2.9', z.string().max(1)), since('2.10', z.string().max(3))], (text) => text);
    const sized = query({ size: [between('2.5', '2.20', one(size)), since('2.30', one(size))] });
    expect(sized.breakpoints.map(String)).toEqual(['2.5', '2.10', '2.21', '2.30']);
    const problems = (version: string) => sized.parse(new URLSearchParams('size=abc'), v(version)).problems.length;
    expect(['2.5', '2.10', '2.20', '2.9', '2.30'].map(problems)).toEqual([1, 0, 0, 1, 0]);
  });

  it('uses the last of repeated parameters, or all of them, as each is defined', () => {
    expect(parse('limit=1&limit=2&not-tags=a&not-tags=b', '2.26')).toEqual({
      value: { limit: 2, 'not-tags': ['a', 'b'] },
      problems: [],
    });
  });

  it('checks every occurrence and names the parameter', () => {
    expect(parse('limit=1&limit=x', '2.1').problems.map((p) => [p.parameter, p.value])).toEqual([['limit', 'x']]);
    expect(parse('marker=1&marker=2', '2.1').problems.map((p) => p.parameter)).toEqual(['marker']);
  });

  it('ignores or rejects unknown parameters by version', () => {
    expect(parse('nonsense=1&not-tags=a', '2.1')).toEqual({ value: {}, problems: [] });
    expect(parse('nonsense=1', '2.75').problems.map((p) => p.parameter)).toEqual(['nonsense']);
    expect(parse('__proto__=1', '2.75').problems.map((p) => p.parameter)).toEqual(['__proto__']);
  });

  it('accepts parameters that match a pattern, even if others are rejected', () => {
    const list = query({ name: one(z.string()) }, { extra: 'reject', patterns: [[/^_/, one(z.string().min(1))]] });
    const parse = (text: string) => list.parse(new URLSearchParams(text), v('2.1'));
    expect(parse('_hidden=1&name=a')).toMatchObject({ value: { _hidden: '1', name: 'a' }, problems: [] });
    expect(parse('_hidden=').problems.map(({ parameter }) => parameter)).toEqual(['_hidden']);
    expect(parse('hidden=1').problems.map(({ parameter }) => parameter)).toEqual(['hidden']);
  });
});
