import { expect, it } from 'vitest';
import { indexedWords } from './search.js';

it('splits every name in camel case into its parts', () => {
  expect(indexedWords('createServer keyPair')).toEqual(expect.arrayContaining(['create', 'server', 'key', 'pair']));
});
