import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cloudWithStoppedServer, executablePath, PageBrowser, rows } from '../../page-in-browser.js';

/** Returns the contrast of two colors in the form `rgb(r, g, b)`, as WCAG defines it. */
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

describe.skipIf(!executablePath)('the page, for users of assistive technology,', () => {
  let browser: PageBrowser;
  beforeAll(async () => {
    browser = await PageBrowser.launch();
  });
  afterAll(() => browser?.close());
  afterEach(() => browser.closePages());
  const open: PageBrowser['open'] = (...given) => browser.open(...given);

  it('can be used without a mouse', async () => {
    const { cloud } = await cloudWithStoppedServer();
    const page = await open(cloud);
    await expect.poll(() => rows(page, 'requests').count()).toBe(6);
    const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.name');
    await page.keyboard.press('/');
    await expect.poll(focused).toBe('text');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('Export as HAR');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('/network/v2.0/nothing');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('/image/v2/images/nothing');
    await page.keyboard.press('Enter');
    await page.locator('#detail').waitFor();
    await expect.poll(focused).toBe('GET /image/v2/images/nothing');
    await page.keyboard.press('Escape');
    await page.locator('#detail').waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('/image/v2/images/nothing');
  });

  it.each(['light', 'dark'] as const)('is readable in %s colors, on every view', async (colorScheme) => {
    const { cloud, id } = await cloudWithStoppedServer();
    cloud.rules.http({ match: { path: '/x' }, status: 503 });
    const page = await open(cloud, { colorScheme });
    const [, action] = cloud.requests({ method: 'POST' });
    for (const view of [`requests/${action!.number}`, `servers/${id}`, 'hosts', 'rules', 'unhandled', 'clients']) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`);
      const [name, one] = view.split('/');
      await page.locator(`#view-${name}`).waitFor();
      if (one) await page.locator('#detail').waitFor();
      const pairs = await page
        .locator('h1, h2, h3, th, td, td code, a, p, label, button, pre, dt, dd, summary, li, del, ins, #counts')
        .evaluateAll((elements) =>
          (elements as any[])
            .filter((one) => one.checkVisibility() && one.textContent.trim() !== '')
            .map((one) => {
              const view = one.ownerDocument.defaultView;
              let behind = one;
              while (view.getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)')
                behind = behind.parentElement;
              const { color } = view.getComputedStyle(one);
              return [color, view.getComputedStyle(behind).backgroundColor, one.textContent.slice(0, 40)];
            }),
        );
      expect(pairs.length).toBeGreaterThan(10);
      for (const [color, background, text] of pairs)
        expect(contrast(color!, background!), `${text} on ${view}`).toBeGreaterThanOrEqual(4.5);
      if (process.env.CLOUD_SCREENSHOT)
        await page.screenshot({ path: `${process.env.CLOUD_SCREENSHOT}-${colorScheme}-${name}.png` });
    }
    await expect.poll(() => page.locator('meter:not([aria-label])').count()).toBe(0);
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(contrast(background, 'rgb(255, 255, 255)') > 10).toBe(colorScheme === 'dark');
  });

  it('shows whole paths on a phone', async () => {
    const { cloud, request } = await cloudWithStoppedServer();
    await request('GET', `/network/v2.0/security-groups?name=${'n'.repeat(120)}`);
    const page = await open(cloud, { viewport: { width: 390, height: 800 } });
    await expect.poll(() => rows(page, 'requests').count()).toBe(7);
    const list = page.locator('#view-requests .scroll');
    const cut = () => list.evaluate((element) => element.scrollWidth > element.clientWidth);
    expect(await cut()).toBe(false);
    for (const path of await page.locator('#requests code:visible').all()) {
      const box = (await path.boundingBox())!;
      expect(box.x + box.width).toBeLessThanOrEqual(390);
    }
  });

  it('fits a narrow screen: a request replaces the list', async () => {
    const { cloud } = await cloudWithStoppedServer();
    const page = await open(cloud, { viewport: { width: 390, height: 800 } });
    for (const view of ['requests', 'rules', 'clients', 'requests/2']) {
      await page.evaluate(`location.hash = '#${view}'`);
      await page.locator(view.includes('/') ? '#detail' : `#view-${view}`).waitFor();
      for (const width of [320, 360, 414, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: view }).toBe(width);
      }
      if (process.env.CLOUD_SCREENSHOT)
        await page.screenshot({ path: `${process.env.CLOUD_SCREENSHOT}-narrow-${view.replace('/', '-')}.png` });
    }
    await expect.poll(() => page.locator('#views').isVisible()).toBe(false);
  });
});
