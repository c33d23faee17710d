import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ifMissing } from './if-missing.js';

const here = import.meta.filename;

it('returns the content, and a fallback for a missing file', async () => {
  expect(await ifMissing(readFile(here, 'utf8'), '')).toContain('ifMissing');
  expect(await ifMissing(readFile(`${here}.none`, 'utf8'), 'nothing')).toBe('nothing');
});

it('throws if an existing file cannot be read', async () => {
  await expect(ifMissing(readFile(join(here, 'below'), 'utf8'), '')).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(ifMissing(readFile(import.meta.dirname, 'utf8'), '')).rejects.toMatchObject({ code: 'EISDIR' });
});
