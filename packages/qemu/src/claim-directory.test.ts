import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimDirectory } from './claim-directory.js';

it('a directory of machines belongs to one host', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'claim-'));
  await claimDirectory(directory, 'h1');
  await claimDirectory(directory, 'h1');
  await expect(claimDirectory(directory, 'h2')).rejects.toMatchObject({
    code: 'DIRECTORY_UNUSABLE',
    message: expect.stringContaining('contains the machines of the host h1: give h2 its own directory'),
  });
  rmSync(join(directory, 'host'));
  await claimDirectory(directory, 'h2');
  rmSync(directory, { recursive: true });
});
