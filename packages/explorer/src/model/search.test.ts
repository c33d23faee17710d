import { expect, it } from 'vitest';
import { wordsIn } from './search.js';

it('splits every name in camel case into its parts', () => {
  expect(wordsIn('createServer keyPair')).toEqual(expect.arrayContaining(['create', 'server', 'key', 'pair']));
});
