import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';
import { type Program, startProgram } from './program.js';

const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the root page in a browser: this machine has no Chromium ***\n');

const requireFrom = createRequire(join(import.meta.dirname, '../../../packages/explorer/package.json'));

describe.skipIf(!executablePath)('the root page and the health page in a browser', () => {
  let browser: Browser;
  let program: Program;
  beforeAll(async () => {
    program = await startProgram(['--db', ':memory:', '--log-level', 'silent']);
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await program?.end('SIGTERM');
  });

  it('shows versions, database, uptime, hosts and servers, and copies the first request', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    const response = await page.goto(`${program.url}/#about`);
    expect(response?.headers()['content-security-policy']).not.toContain('unsafe');
    await expect
      .poll(() => page.locator('.facts').textContent())
      .toMatch(/2\.1 to 2\.100.*SQLite, in memory.*Uptime\s*\d+ s.*Hosts\s*2.*Servers\s*0/s);
    await page.locator('.code').hover();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
      .toBe(`curl -H 'X-Auth-Token: ada:demo' ${program.url}/v2.1/flavors`);
    expect(problems).toEqual([]);
    await context.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 360],
    ['light', 320],
    ['dark', 390],
    ['light', 414],
  ] as const)('are accessible in the %s color scheme, and fit into %i pixels of width', async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const page = await context.newPage();
    for (const path of ['/', '/healthcheck']) {
      await page.goto(program.url + path);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([path, overflow]).toEqual([path, 0]);
      // The documented markup of the health page has neither a language nor landmarks.
      const rules =
        path === '/'
          ? '{}'
          : "{ rules: { 'html-has-lang': { enabled: false }, region: { enabled: false }, 'landmark-one-main': { enabled: false }, 'page-has-heading-one': { enabled: false } } }";
      await page.addScriptTag({ path: requireFrom.resolve('axe-core/axe.min.js') });
      const found = await page.evaluate<string[]>(
        `axe.run(${rules}).then(({ violations }) => violations.map(({ id }) => id))`,
      );
      expect([path, found]).toEqual([path, []]);
    }
    await context.close();
  });
});
