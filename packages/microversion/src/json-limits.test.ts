import { describe, expect, it } from 'vitest';
import { checkJsonText, checkJsonValue } from './json-limits.js';

const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;

describe('the structure of a body', () => {
  it.each([
    nested('[', ']', 64),
    nested('{"a":', '}', 64),
    '{"a":"[[{{,,\\"[[\\\\","b":[1,{"c":null}]}',
    `"${'['.repeat(100)}${','.repeat(30_000)}"`,
    '1',
  ])('is accepted within the limits', (text) => {
    checkJsonText(text);
    checkJsonValue(JSON.parse(text));
  });

  it.each([
    ['deep lists', nested('[', ']', 65)],
    ['very deep lists', nested('[', ']', 400_000)],
    ['deep objects', nested('{"a":', '}', 65)],
    ['depth behind a text with marks', `["\\\\\\"[]{}", ${nested('[', ']', 64)}]`],
    ['wide lists', `[${'1,'.repeat(20_000)}1]`],
    ['wide objects', `{${Array.from({ length: 20_001 }, (_, index) => `"k${index}":1`)}}`],
  ])('is rejected for %s', (_, text) => {
    const rejection = expect.objectContaining({ code: 'BODY_TOO_COMPLEX', status: 400 });
    expect(() => checkJsonText(text)).toThrow(rejection);
    expect(() => checkJsonValue(JSON.parse(text))).toThrow(rejection);
  });
});
