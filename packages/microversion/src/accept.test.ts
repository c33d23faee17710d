import { expect, it } from 'vitest';
import { accepts } from './accept.js';

const JSON_TYPE = 'application/json';

it.each([
  ['a missing header', undefined, true],
  ['another type', 'text/html', false],
  ['a comma in a quoted parameter', 'text/html;a="x,y"', false],
  ['a semicolon in a quoted parameter', 'application/json;a="x;q=0"', true],
  ['an escaped quote in a quoted parameter', String.raw`text/html;a="x\",application/json;b=\""`, false],
  ['a type after a quoted parameter', 'text/html;a="x,y", application/json', true],
  ['a quality of 0 after a quoted parameter', 'application/json;a=",";q=0, */*', false],
  ['an unclosed quote, which extends to the end', 'text/html;a="x,application/json', false],
  ['an unclosed quote after escapes', 'text/html;a="\\",application/json\\', false],
])('determines whether the client accepts JSON for %s', (_, accept, expected) => {
  expect(accepts(accept, JSON_TYPE)).toBe(expected);
});
