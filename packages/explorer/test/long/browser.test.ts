import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { computeFault, negotiator } from '@apistrata/microversion';
import { createRouter } from '@apistrata/microversion-router';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { explorer } from '../../src/index.js';
import { type BookCall, bookHistory, bookOperations } from '../books.js';

const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the explorer in a browser: this machine has no Chromium ***\n');

describe.skipIf(!executablePath)('the pages in a browser', () => {
  let browser: Browser;
  let server: Server;
  let url: string;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    const call: BookCall = { books: [] };
    const docs = explorer({
      operations: bookOperations,
      title: 'Library',
      min: '1.1',
      max: '1.10',
      server: '/library',
      history: bookHistory,
      path: '/docs',
      commands: { createBook: 'library --version {version} book add' },
      description: {
        versionHeaders: [{ name: 'Service-API-Version', value: (version) => `library ${version}` }],
        securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Token' } },
      },
      tokens: [{ label: 'a reader', token: 'reader' }],
    });
    const api = createRouter<BookCall>({
      operations: bookOperations,
      call: () => ({ ...call }),
      path: (req) => (req.url ?? '').split('?')[0]!.replace(/^\/library/, ''),
      negotiate: negotiator({ service: 'library', min: '1.1', max: '1.10' }).apply,
      fault: (error: any, _req, res) => {
        const { contentType, body } = computeFault({ status: error.status ?? 500, message: error.message });
        res.writeHead(error.status ?? 500, { 'Content-Type': contentType }).end(body);
      },
    });
    server = createServer((req, res) => (req.url!.startsWith('/docs') ? docs(req, res) : api(req, res)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`;
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = await context.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
    expect(problems).toEqual([]);
  });

  it('switch versions by keyboard, in place, and go back', async () => {
    await page.goto(`${url}/?version=1.4`);
    await page.getByRole('slider', { name: 'Version' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/version=1\.5/);
    await page.getByRole('heading', { name: 'Library 1.5' }).waitFor();
    await expect.poll(() => page.locator('main mark').count()).toBe(2);
    await page.goBack();
    await page.getByRole('heading', { name: 'Library 1.4' }).waitFor();
    await expect.poll(() => page.locator('#version').inputValue()).toBe('1.4');
  });

  /** Opens the request form of an operation with the keyboard. */
  async function openForm(path: string) {
    await page.goto(`${url}${path}`);
    await page.keyboard.press('t');
    await page.getByRole('button', { name: /^Send at/ }).waitFor();
  }
  const body = (title: string, shelf = 'A') => JSON.stringify({ book: { title, shelf } });

  it('send the example unchanged, and show status, duration and response in colors', async () => {
    await openForm('/operations/createBook?version=1.8');
    await page.getByRole('button', { name: 'Send at 1.8' }).click();
    await page.getByText('Response: 201.').waitFor();
    await expect
      .poll(async () => JSON.parse((await page.locator('[data-content]').textContent()) || 'null'))
      .toMatchObject({ book: { id: 1 } });
    await expect.poll(() => page.locator('[data-content] .t-key').count()).toBeGreaterThan(2);
    await expect.poll(() => page.locator('[data-duration]').textContent()).toMatch(/^\d+ ms/);
    await page.getByText('Requests in this session').click();
    await page.getByRole('link', { name: 'POST /library/books: 201' }).waitFor();
  });

  it('send requests by keyboard, and report a body that is not JSON', async () => {
    await openForm('/operations/createBook?version=1.8');
    await page.getByLabel('Body', { exact: true }).fill('{');
    await page.keyboard.press('Control+Enter');
    await page.getByText(/The request body is not valid JSON/).waitFor();
    await page.getByLabel('Body', { exact: true }).fill(body('Ships & Stars', 'B'));
    await page.keyboard.press('Control+Enter');
    await page.getByText('Response: 201.').waitFor();
    await expect.poll(() => page.locator('[data-content]').textContent()).toContain('Ships & Stars');
  });

  it('fill path parameters with existing values', async () => {
    await openForm('/operations/deleteBook?version=1.5');
    await expect.poll(() => page.getByLabel('id', { exact: true }).inputValue()).toBe('1');
    await page.getByRole('button', { name: 'Send at 1.5' }).click();
    await page.getByText('Response: 204.').waitFor();
  });

  it('keep the typed input when the version changes', async () => {
    await openForm('/operations/createBook?version=1.8');
    await page.getByLabel('Body', { exact: true }).fill(body('Kept'));
    await page.locator('#version').selectOption('1.9');
    await page.waitForURL(/version=1\.9/);
    await page.getByRole('button', { name: 'Send at 1.9' }).waitFor();
    await expect.poll(() => page.getByLabel('Body', { exact: true }).inputValue()).toBe(body('Kept'));
  });

  it('copy the request as curl, and samples in the language that was selected last', async () => {
    await openForm('/operations/createBook?version=1.8');
    await page.getByLabel('Body', { exact: true }).fill(body("It's"));
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await expect.poll(copied).toContain("-H 'Service-API-Version: library 1.8'");
    expect(await copied()).toContain(String.raw`It'\''s`);
    await page.getByText('Copied').waitFor();
    await page.getByText('Command line', { exact: true }).click();
    await page.goto(`${url}/operations/createBook?version=1.8`);
    await page.getByRole('button', { name: 'Copy the Command line sample' }).click();
    await expect.poll(copied).toBe('library --version 1.8 book add');
  });

  it('open collapsed fields that a link leads to', async () => {
    await page.goto(`${url}/operations/listBooks?version=1.8#reply.books%5B%5D.title`);
    await page.locator('[id="reply.books[].title"]').waitFor({ state: 'visible' });
  });

  it('search while the user types', async () => {
    await page.goto(`${url}/?version=1.8`);
    await page.keyboard.press('/');
    await page.keyboard.type('spine');
    await page.getByText('1 operation and 0 versions for “spine”.').waitFor();
    await expect.poll(() => page.locator('#q').inputValue()).toBe('spine');
    await expect.poll(() => page.locator('.found > li').count()).toBe(1);
  });

  it('count the changes of versions after the page is shown', async () => {
    await page.goto(`${url}/versions`);
    await expect
      .poll(() => page.locator('.history li', { hasText: '1.7' }).locator('.chips').textContent())
      .toContain('1 removed');
  });

  it('work without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${url}/operations/createBook?version=1.8`);
    await plain.locator('#version').selectOption('1.3');
    await plain.getByRole('button', { name: 'Show' }).click();
    await plain.waitForURL(({ searchParams }) => searchParams.get('version') === '1.3');
    await expect.poll(() => plain.getByRole('heading', { name: 'Add a book' }).count()).toBe(1);
    await context.close();
  });

  const PAGES = [
    '/?version=1.5',
    '/operations/createBook?version=1.8',
    '/operations/deleteBook?version=1.9',
    '/changes?from=1.1&to=1.10',
    '/versions',
    '/versions/1.5',
    '/search?q=book',
    '/style',
    '/nowhere',
  ];

  it.each([320, 360, 390, 414])('fit a window of %i pixels', async (width) => {
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    const tested = await context.newPage();
    for (const path of PAGES) {
      await tested.goto(url + path);
      const wide = await tested.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([path, wide]).toEqual([path, 0]);
    }
    await context.close();
  });

  it('have three columns in windows of 1200 pixels or more', async () => {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
    const tested = await context.newPage();
    await tested.goto(`${url}/operations/createBook?version=1.8`);
    const left = async (selector: string) => (await tested.locator(selector).boundingBox())?.x ?? Number.NaN;
    const columns = [await left('.sidebar'), await left('.op-body'), await left('.op-code')];
    expect(columns).toEqual([...columns].sort((a, b) => a - b));
    expect(new Set(columns).size).toBe(3);
    await context.close();
  });

  it('do not shift while they load', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const tested = await context.newPage();
    await tested.addInitScript(`
      globalThis.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value);
      }).observe({ type: 'layout-shift', buffered: true });`);
    for (const path of PAGES) {
      await tested.goto(url + path, { waitUntil: 'networkidle' });
      expect([path, await tested.evaluate('shifts.reduce((sum, value) => sum + value, 0)')]).toEqual([path, 0]);
    }
    await context.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('are accessible according to axe-core in %s colors at %d pixels', async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const tested = await context.newPage();
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    for (const path of PAGES) {
      await tested.goto(url + path);
      await tested.addScriptTag({ path: axe });
      const { violations } = (await tested.evaluate('axe.run()')) as any;
      expect([path, violations.map(({ id, nodes }: any) => [id, nodes[0].html])]).toEqual([path, []]);
    }
    await context.close();
  });
});
