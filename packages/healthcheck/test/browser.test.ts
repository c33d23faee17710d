import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';
import { eventually } from '../../../testing/eventually.js';
import { closing, serve } from './serve.js';
import { BLOCKED, startWorker } from './workers.js';

const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the health page in a browser: this machine has no Chromium ***\n');

describe.skipIf(!executablePath)('the detailed page in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-health-page-'));
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows title, headings, tables and a blocked worker, and escapes file names', async () => {
    const hostile = join(folder, `<script>document.title='hacked'<&"'>`.replaceAll('/', ''));
    writeFileSync(hostile, '');
    await startWorker(BLOCKED, '<img src=x onerror="document.title=1">');
    const health = closing({
      backends: [
        'disable_by_file',
        { name: 'db', check: () => ({ state: 'degraded', reason: 'SLOW', details: '<i>9 s</i>' }) },
      ],
      disableByFilePath: hostile,
      detailed: true,
    });
    const { url } = await serve(health);

    const page = await browser.newPage();
    // The worker sends its message directly before it enters the loop.
    await eventually(async () => {
      const response = await page.goto(`${url}/healthcheck`);
      expect(response!.status()).toBe(503);
      expect(await page.content()).toContain('at spinForEver (');
    });
    await expect.poll(() => page.title()).toBe('Healthcheck Status');
    await expect
      .poll(() => page.locator('header').allInnerTexts())
      .toEqual(['Unhealthy\n1 unavailable, 1 degraded\nDISABLED BY FILE\nSLOW']);
    const texts = (part: Page | Locator, selector: string) => () => part.locator(selector).allInnerTexts();
    await expect.poll(texts(page, 'h1')).toEqual(['Server status']);
    await expect
      .poll(texts(page, 'h2'))
      .toEqual([
        'Result of 2 checks:',
        'Garbage collector:',
        expect.stringMatching(/^Pending operations \(\d+\):$/),
        'Threads (2):',
      ]);

    const tables = page.locator('table');
    await expect.poll(() => tables.count()).toBe(3);
    await expect.poll(texts(tables.nth(0), 'th')).toEqual(['Kind', 'Reason', 'Details']);
    await expect
      .poll(texts(tables.nth(0), 'td'))
      .toEqual([
        'HealthcheckResult',
        'DISABLED BY FILE',
        `Path '${hostile}' was found`,
        'HealthcheckResult',
        'SLOW',
        '<i>9 s</i>',
      ]);
    const threads = texts(tables.nth(2), 'td');
    await expect.poll(threads).toEqual([expect.stringContaining('[main]'), expect.stringContaining('<img src=x')]);
    await expect.poll(threads).toContainEqual(expect.stringContaining('<img src=x onerror="document.title=1">'));
    await expect.poll(threads).toContainEqual(expect.stringContaining('at spinForEver ('));
    await expect.poll(() => page.locator('script, img, i').count()).toBe(0);

    const screenshot = process.env.HEALTH_SCREENSHOT;
    if (screenshot) await page.screenshot({ path: screenshot, fullPage: false });
    await page.close();
  });

  it('has a simple layout if the endpoint is not detailed', async () => {
    const { url } = await serve(closing({ backends: 'disable_by_file' }));
    const page = await browser.newPage();
    await page.goto(`${url}/healthcheck`);
    await expect.poll(() => page.locator('h2').allInnerTexts()).toEqual(['Result of 1 checks:']);
    await expect.poll(() => page.locator('td').allInnerTexts()).toEqual(['OK']);
    await expect.poll(() => page.locator('pre').count()).toBe(0);
    await page.close();
  });

  it('has the links of the site at its top', async () => {
    const links = [
      { href: './', text: 'Shop' },
      { href: 'docs', text: '<Docs>' },
    ];
    const { url } = await serve(closing({ backends: [], links }));
    const page = await browser.newPage();
    await page.goto(`${url}/healthcheck`);
    const shown = page.locator('nav a');
    await expect.poll(() => shown.allInnerTexts()).toEqual(['Shop', '<Docs>']);
    await Promise.all([page.waitForRequest(`${url}/docs`), shown.nth(1).click()]);
    await page.close();
  });

  it('shows its state by color in light and dark mode, and fits a phone', async () => {
    const checks = {
      available: { name: 'a', check: () => ({ state: 'available' as const, details: 'x'.repeat(300) }) },
      degraded: { name: 'b', check: () => ({ state: 'degraded' as const, reason: 'SLOW' }) },
      unavailable: { name: 'c', check: () => ({ state: 'unavailable' as const, reason: 'GONE' }) },
    };
    const colors = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [state, check] of Object.entries(checks)) {
        const { url } = await serve(closing({ backends: [check], detailed: true }));
        const page = await browser.newPage({ colorScheme, viewport: { width: 360, height: 740 } });
        await page.goto(`${url}/healthcheck`);
        const header = page.locator(`body.${state} header`);
        await expect.poll(() => header.isVisible()).toBe(true);
        colors.add(await page.evaluate<string>("getComputedStyle(document.querySelector('header')).color"));
        const widths = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
        expect(widths[0]).toBeLessThanOrEqual(widths[1]!);
        await page.close();
      }
    }
    expect(colors.size).toBe(6);
  });
});
