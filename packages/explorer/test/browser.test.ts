import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { computeFault, negotiator } from '@apistrata/microversion';
import { createRouter } from '@apistrata/microversion/router';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';
import { explorer } from '../src/index.js';
import { type BookCall, bookHistory, bookOperations } from './books.js';

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

  it('slide over the versions by keyboard, in place, and go back', async () => {
    await page.goto(`${url}/?version=1.4`);
    await page.getByRole('slider', { name: 'Version' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/version=1\.5/);
    await page.getByRole('heading', { name: 'Library at 1.5' }).waitFor();
    await expect.poll(() => page.locator('mark').count()).toBe(2);
    await page.goBack();
    await page.getByRole('heading', { name: 'Library at 1.4' }).waitFor();
    await expect.poll(() => page.locator('#version').inputValue()).toBe('1.4');
  });

  it('send an operation with a form made from its schema, and show the answer', async () => {
    await page.goto(`${url}/operations/createBook?version=1.8`);
    await page.getByLabel('book.title').fill('Ships & Stars');
    await page.getByLabel('book.shelf').selectOption('B');
    await page.getByRole('button', { name: 'Send at 1.8' }).click();
    await page.getByText('Response: 201.').waitFor();
    await expect
      .poll(async () => JSON.parse((await page.locator('[data-content]').textContent()) || 'null'))
      .toEqual({ book: { id: 1, title: 'Ships & Stars', shelf: 'B' } });
    await page.getByLabel('JSON').fill('{');
    await page.getByRole('button', { name: 'Send at 1.8' }).click();
    await page.getByText(/The request body is not valid JSON/).waitFor();
  });

  it('keep what was typed when the version changes', async () => {
    await page.goto(`${url}/operations/createBook?version=1.8`);
    await page.getByLabel('book.title').fill('Kept');
    await page.locator('#version').selectOption('1.9');
    await page.waitForURL(/version=1\.9/);
    await page.getByRole('button', { name: 'Send at 1.9' }).waitFor();
    await expect.poll(() => page.getByLabel('book.title').inputValue()).toBe('Kept');
  });

  it('copy the request for other tools', async () => {
    await page.goto(`${url}/operations/createBook?version=1.8`);
    await page.getByLabel('book.title').fill("It's");
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await expect.poll(copied).toContain("-H 'Service-API-Version: library 1.8'");
    expect(await copied()).toContain(String.raw`It'\''s`);
    await page.getByText('Copied.').waitFor();
    await page.getByRole('button', { name: 'Copy as command line' }).click();
    await expect.poll(copied).toBe('library --version 1.8 book add');
  });

  it('search while one types', async () => {
    await page.goto(`${url}/?version=1.8`);
    await page.keyboard.press('/');
    await page.keyboard.type('spine');
    await page.getByText('1 operations with “spine”.').waitFor();
    await expect.poll(() => page.locator('.found > li').count()).toBe(1);
  });

  it('work without script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${url}/operations/createBook?version=1.8`);
    await plain.locator('#version').selectOption('1.3');
    await plain.getByRole('button', { name: 'Show' }).click();
    await plain.waitForURL((address) => address.searchParams.get('version') === '1.3');
    await expect.poll(() => plain.getByRole('heading', { name: 'Add a book' }).count()).toBe(1);
    await context.close();
  });

  it.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 360],
    ['dark', 360],
  ] as const)('have nothing serious to say for axe-core in %s colours at %d pixels', async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const tested = await context.newPage();
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    for (const path of [
      '/?version=1.5',
      '/operations/createBook?version=1.8',
      '/changes?from=1.1&to=1.10',
      '/versions',
      '/versions/1.5',
      '/search?q=book',
    ]) {
      await tested.goto(url + path);
      await tested.addScriptTag({ path: axe });
      const { violations } = (await tested.evaluate('axe.run()')) as any;
      const serious = violations.filter(({ impact }: any) => impact === 'serious' || impact === 'critical');
      expect([path, serious.map(({ id, nodes }: any) => [id, nodes[0].html])]).toEqual([path, []]);
      const wide = await tested.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([path, wide]).toEqual([path, 0]);
    }
    await context.close();
  });
});
