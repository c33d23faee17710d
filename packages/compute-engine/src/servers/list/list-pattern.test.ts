import { describe, expect, it } from 'vitest';
import { compilePattern, likeOf } from './list-pattern.js';

describe('the SQL pattern for a regular expression', () => {
  it.each([
    ['web', '%web%'],
    ['^web-1$', '%web-1%'],
    ['10.0.0.5', '%10_0_0_5%'],
    ['10\\.0\\.0\\.5', '%10.0.0.5%'],
    ['a%_b', '%a\\%\\_b%'],
    ['100%.*', '%100\\%%'],
    ['colou?r', '%colo%r%'],
    ['go+gle', '%go%gle%'],
    ['a{2}b', '%b%'],
    ['x\\d+y', '%x%y%'],
    ['a\\\\b', '%a\\\\b%'],
    ['naïve😀', '%naïve😀%'],
  ])('converts %s to the like pattern %s', (pattern, like) => expect(likeOf(pattern)).toBe(like));

  it.each(['', '.*', '^$', 'a|b', '(ab)+', '[ab]c', '\\pL', '\\x41', '\\Qa.b\\E', 'a\0b', 'a{b', 'a\\'])(
    'returns undefined for %j',
    (pattern) => expect(likeOf(pattern)).toBeUndefined(),
  );

  it('encodes characters as in the searched text', () => {
    const inJson = (character: string) => JSON.stringify(character).slice(1, -1);
    expect(likeOf('a"b.c', inJson)).toBe('%a\\\\"b%c%');
  });

  /** Translates an SQL `like` pattern to a JavaScript regular expression. */
  const asRegExp = (like: string) => {
    const parts = like.match(/\\?./gs) ?? [];
    const expectedRegExp = (part: string) =>
      part === '%' ? '.*' : part === '_' ? '.' : part.at(-1)!.replace(/\W/, '\\$&');
    return new RegExp(`^${parts.map(expectedRegExp).join('')}$`, 's');
  };

  it('matches every text that the pattern matches', () => {
    const signs = ['a', 'b', '1', '.', '%', '_', '\\.', '\\d', '\\\\', '*', '+', '?', '{2}', '^', '$', '-'];
    const texts = ['a', 'b', '1', '.', '%', '_', '\\', '-', ''];
    let state = 7;
    const pick = <T>(list: readonly T[]) => list[(state = (state * 48271) % 2147483647) % list.length]!;
    const several = (list: readonly string[], max: number) => Array.from({ length: max }, () => pick(list)).join('');
    let found = 0;
    for (let round = 0; round < 20_000; round++) {
      const pattern = several(signs, 1 + (round % 6));
      const fits = compilePattern(pattern);
      const like = likeOf(pattern);
      if (!fits || like === undefined) continue;
      const text = several(texts, 6);
      if (!fits(text)) continue;
      found++;
      expect(asRegExp(like).test(text), `${pattern} matches ${text}, but ${like} does not`).toBe(true);
    }
    expect(found).toBeGreaterThan(500);
  });
});
