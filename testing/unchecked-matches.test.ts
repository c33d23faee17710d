import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testFiles } from './test-files.js';
import { uncheckedMatchesIn } from './unchecked-matches.js';

const root = join(import.meta.dirname, '..');

it('finds values that match any value', () => {
  const text = `it('compares', async () => {
      expect(() => expect(1).toMatchObject({})).not.toThrow();
      await expect(request()).rejects.toMatchObject({ code: 'CONFLICT', message: /in use/ });
      expect(server).toMatchObject({
        fault: null,
        metadata: {},
        devices: [{ options: {} }, {}, /vda/],
      });
      expect(server).toMatchObject({ name: expect.stringMatching(/web/), devices: [{}], flavor: { id: '1' } });
      expect(server).toEqual({ metadata: {} });
    });`;
  expect(uncheckedMatchesIn(text)).toEqual(['2: {}', '3: /in use/', '6: {}', '7: {}', '7: /vda/']);
});

it('finds no value that matches any value in the tests', () => {
  // This file contains such values as samples.
  const files = testFiles().filter((file) => file !== 'testing/unchecked-matches.test.ts');
  expect(files.length).toBeGreaterThan(300);
  expect(
    files.flatMap((file) =>
      uncheckedMatchesIn(readFileSync(join(root, file), 'utf8')).map((match) => `${file}:${match}`),
    ),
  ).toEqual([]);
});
