import { describe, expect, it } from 'vitest';
import { compilePattern, likePatternOf } from './list-pattern.js';

describe('likePatternOf', () => {
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
  ])('converts %s to the like pattern %s', (pattern, like) => expect(likePatternOf(pattern)).toBe(like));

  it.each(['', '.*', '^$', 'a|b', '(ab)+', '[ab]c', '\\pL', '\\x41', '\\Qa.b\\E', 'a\0b', 'a{b', 'a\\'])(
    'returns undefined for %j',
    (pattern) => expect(likePatternOf(pattern)).toBeUndefined(),
  );

  it('encodes characters as they are encoded in the searched text', () => {
    const inJson = (character: string) => JSON.stringify(character).slice(1, -1);
    expect(likePatternOf('a"b.c', inJson)).toBe('%a\\\\"b%c%');
  });

  /** Translates an SQL `like` pattern to a JavaScript regular expression. */
  const toRegExp = (like: string) => {
    const parts = like.match(/\\?./gs) ?? [];
    const expectedRegExp = (part: string) =>
      part === '%' ? '.*' : part === '_' ? '.' : part.at(-1)!.replace(/\W/, '\\$&');
    return new RegExp(`^${parts.map(expectedRegExp).join('')}$`, 's');
  };

  it('returns a like pattern that matches every text that the regular expression matches', () => {
    const patternElements = ['a', 'b', '1', '.', '%', '_', '\\.', '\\d', '\\\\', '*', '+', '?', '{2}', '^', '$', '-'];
    const textElements = ['a', 'b', '1', '.', '%', '_', '\\', '-', ''];
    let state = 7;
    const pickRandom = <T>(list: readonly T[]) => list[(state = (state * 48271) % 2147483647) % list.length]!;
    const randomString = (list: readonly string[], max: number) =>
      Array.from({ length: max }, () => pickRandom(list)).join('');
    let matchCount = 0;
    for (let round = 0; round < 20_000; round++) {
      const pattern = randomString(patternElements, 1 + (round % 6));
      const fits = compilePattern(pattern);
      const like = likePatternOf(pattern);
      if (!fits || like === undefined) continue;
      const text = randomString(textElements, 6);
      if (!fits(text)) continue;
      matchCount++;
      expect(toRegExp(like).test(text), `${pattern} matches ${text}, but ${like} does not`).toBe(true);
    }
    expect(matchCount).toBeGreaterThan(500);
  });
});
