import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ifMissing } from './if-missing.js';

const here = import.meta.filename;

it('gives what is read, and something else for a file that is not there', async () => {
  expect(await ifMissing(readFile(here, 'utf8'), '')).toContain('ifMissing');
  expect(await ifMissing(readFile(`${here}.none`, 'utf8'), 'nothing')).toBe('nothing');
});

it('does not take a file for missing that cannot be read', async () => {
  await expect(ifMissing(readFile(join(here, 'below'), 'utf8'), '')).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(ifMissing(readFile(import.meta.dirname, 'utf8'), '')).rejects.toMatchObject({ code: 'EISDIR' });
});
