import { expect, it } from 'vitest';
import { wordsIn } from './search.js';

it('splits every name in camel case into its parts', () => {
  expect(wordsIn('createServer keyPair')).toEqual([
    'createserver',
    'create',
    'server',
    'createserver',
    'keypair',
    'key',
    'pair',
    'keypair',
  ]);
});
