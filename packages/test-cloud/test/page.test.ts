import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, NETWORK, serverBody } from './clouds.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--no-first-run',
];

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

if (!executablePath) console.warn('\n*** SKIPPED: the page of the test cloud: this machine has no Chromium ***\n');

/** How much two colours of `rgb(r, g, b)` differ to the eye, as WCAG counts it. */
function contrast(one: string, other: string): number {
  const luminance = (text: string) => {
    const [r, g, b] = text.match(/[\d.]+/g)!.map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

describe.skipIf(!executablePath)('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('shows servers, hosts and requests, follows what happens, and takes no name for markup', async () => {
    const cloud = await cloudUnderTest();
    const ask = clientOf(cloud);
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(cloud.url);
    await page.getByText('No servers yet').waitFor();

    await ask('POST', '/compute/v2.1/servers', serverBody({ name: '<b>bold</b>', networks: [{ uuid: NETWORK }] }));
    await cloud.idle();
    await page.getByText('<b>bold</b>').waitFor();
    expect(await page.locator('b').count()).toBe(0);
    expect(await page.locator('#counts').textContent()).toBe('1 server (1 active)');
    const cells = await page.locator('#servers tr').first().locator('td').allInnerTexts();
    expect(cells.slice(1, 4)).toEqual(['active', '–', 'm1.tiny']);
    expect(cells[5]).toMatch(/^10\.0\./);
    const hosts = await page.locator('#hosts tr').allInnerTexts();
    expect(hosts).toHaveLength(2);
    expect(hosts.join()).toContain('1 of 64');
    const request = page.locator('#requests tr').filter({ hasText: 'POST' });
    expect((await request.locator('td').allInnerTexts()).slice(1, 5)).toEqual([
      'POST',
      '/compute/v2.1/servers',
      '202',
      '2.90',
    ]);
    expect(await request.textContent()).toMatch(/req-[0-9a-f-]{36}/);
    await ask('GET', '/network/v2.0/nothing');
    await page.getByRole('heading', { name: 'Asked for in vain' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  it.each(['light', 'dark'] as const)('can be read, and used without a mouse, in %s colours', async (colorScheme) => {
    const cloud = await cloudUnderTest();
    await clientOf(cloud)('POST', '/compute/v2.1/servers', serverBody());
    await clientOf(cloud)('GET', '/compute/v2.1/os-hypervisors/detail');
    await cloud.idle();
    const page = await browser.newPage({ colorScheme, viewport: { width: 1400, height: 900 } });
    await page.goto(cloud.url);
    await page.locator('#servers .good').waitFor();
    const pairs = await page.locator('h1, h2, th, td, td code, #counts').evaluateAll((elements) =>
      (elements as any[]).map((element) => {
        const view = element.ownerDocument.defaultView;
        let behind = element;
        while (view.getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
        return [view.getComputedStyle(element).color, view.getComputedStyle(behind).backgroundColor];
      }),
    );
    expect(pairs.length).toBeGreaterThan(20);
    for (const [colour, background] of pairs) expect(contrast(colour!, background!)).toBeGreaterThanOrEqual(4.5);
    const background = await page
      .locator('body')
      .evaluate((body: any) => body.ownerDocument.defaultView.getComputedStyle(body).backgroundColor);
    expect(contrast(background, 'rgb(255, 255, 255)') > 10).toBe(colorScheme === 'dark');

    // The link to the documents comes first.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Live').evaluate((box: any) => box.ownerDocument.activeElement === box)).toBe(true);
    await page.keyboard.press('Tab');
    expect(
      await page
        .getByRole('group', { name: 'Table of servers' })
        .evaluate((area: any) => area.ownerDocument.activeElement === area),
    ).toBe(true);
    expect(await page.locator('meter:not([aria-label])').count()).toBe(0);
    if (process.env.CLOUD_SCREENSHOT)
      await page.screenshot({ path: `${process.env.CLOUD_SCREENSHOT}-${colorScheme}.png` });
    await page.close();
  });
});
