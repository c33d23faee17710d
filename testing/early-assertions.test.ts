import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { earlyAssertionsIn } from './early-assertions.js';
import { testFiles } from './test-files.js';

const root = join(import.meta.dirname, '..');

it('finds assertions on unfinished work, and waits that are too short', () => {
  const text = `import { chromium } from 'playwright-core';
    it('looks', async () => {
      expect(await page.locator('b').count()).toBe(0);
      const cells = (await rows.first().allInnerTexts()).slice(1);
      await expect.poll(() => page.locator('b').count()).toBe(0);
      await expect.poll(async () => (await cells()).length, { timeout: 5_000 }).toBe(1);
      const texts = async () => (await page.locator('i').allInnerTexts()).join();
      await vi.waitFor(() => expect(log).toContain('x'));
      await vi.waitFor(() => expect(log).toContain('x'), 20_000);
      await vi.waitFor(() => expect(log).toContain('x'), { timeout: 60_000, interval: 5 });
      await eventually(async () => { expect(await page.title()).toBe('x'); });
      await expect
        .poll(texts, { timeout: 29_999 })
        .toBe('');
    });`;
  expect(earlyAssertionsIn(text)).toEqual([
    '3: a page is read once: expect.poll waits until it is as expected',
    '4: a page is read once: expect.poll waits until it is as expected',
    '6: expect.poll gives up after 5 s',
    '8: vi.waitFor gives up after 1 s',
    '9: vi.waitFor gives up after 20 s',
    '12: expect.poll gives up after 29.999 s',
  ]);
  expect(earlyAssertionsIn(text.replace(/^.*\n/, '')).join()).not.toContain('a page is read once');
});

it('finds no early assertion in the tests', () => {
  // This file contains such assertions as samples; the other file defines the default timeout.
  const exempt = ['testing/early-assertions.test.ts', 'testing/eventually.ts'];
  const files = testFiles().filter((file) => !exempt.includes(file));
  expect(files.length).toBeGreaterThan(300);
  expect(
    files.flatMap((file) =>
      earlyAssertionsIn(readFileSync(join(root, file), 'utf8')).map((assertion) => `${file}:${assertion}`),
    ),
  ).toEqual([]);
});
