import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { documentedApi } from '../../src/index.js';
import { buildStaticSite } from '../../src/static/index.js';
import { bookHistory, bookOperations } from '../books.js';
import { library, secondLibrary } from './libraries.js';

let folder: string;
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const pagesIn = (parent: string) =>
  readdirSync(join(folder, parent), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));

const books = { operations: bookOperations, title: 'Books', min: '1.1', max: '1.10', history: bookHistory };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'explorer-static-'));
  const api = documentedApi([{ document: library }, { document: secondLibrary }]);
  const logo = { type: 'image/png', content: Uint8Array.of(1, 2, 3) };
  const look = { logo, colors: { accent: '#0b5fa5' }, texts: { introduction: 'Read first.', footer: 'The end.' } };
  await buildStaticSite({ ...api, ...look }, { folder: join(folder, 'library') });
  await buildStaticSite(books, { folder: join(folder, 'deep/books'), openapi: 'newest' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a static site', () => {
  it('has no dead links and no root-relative links', () => {
    const dead = pagesIn('.').flatMap((file) => {
      const links = [...read(file).matchAll(/ (?:href|data-href|src|action)="(?!https?:|#)([^"?#]+)/g)];
      expect(links.length, file).toBeGreaterThan(5);
      const missing = links.filter(
        ([, link = '']) => link.startsWith('/') || !existsSync(join(folder, file, '..', link)),
      );
      return missing.map(([, link]) => `${file} -> ${link}`);
    });
    expect(dead).toEqual([]);
  });

  it('has one page for each interval in which an operation does not change', () => {
    expect(pagesIn('deep/books/operations').sort()).toEqual([
      'createBook.html',
      'createBook/1.1.html',
      'createBook/1.3.html',
      'createBook/1.5.html',
      'deleteBook.html',
      'listBooks.html',
      'listBooks/1.1.html',
      'listBooks/1.5.html',
    ]);
    expect(read('deep/books/operations/createBook/1.3.html')).toContain('until 1.4');
    expect(pagesIn('deep/books/at')).toHaveLength(9);
  });

  it('contains the documents that are selected', () => {
    expect(readdirSync(join(folder, 'library/openapi')).sort()).toEqual(['1.0.0.json', '1.1.0.json']);
    expect(readdirSync(join(folder, 'deep/books/openapi'))).toEqual(['1.10.json']);
    expect(read('deep/books/at/1.5.html')).not.toContain('>OpenAPI</a>');
  });

  it('has a request form only if the URL of a server is configured', () => {
    expect(read('library/operations/books-list.html')).toContain('data-try');
    expect(read('deep/books/operations/listBooks.html')).not.toContain('data-try');
  });

  it('has the logo, the colors and the texts of the options', () => {
    expect([...readFileSync(join(folder, 'library/assets/logo.png'))]).toEqual([1, 2, 3]);
    expect(read('library/assets/theme.css')).toBe(':root {\n  --accent: #0b5fa5;\n}\n');
    const first = read('library/index.html');
    expect(first).toContain('<p class="lead">Read first.</p>');
    expect(first).toContain('The end.</footer>');
    expect(existsSync(join(folder, 'deep/books/assets/theme.css'))).toBe(false);
  });

  it('has a feed of the versions, whose links lead to their pages', () => {
    const feed = read('deep/books/versions.atom');
    const [first = ''] = feed.split('<entry>').slice(1);
    expect(first).toMatch(/^<id>urn:uuid:[\da-f-]{36}<\/id><title>Books 1\.10<\/title>/);
    const links = [...feed.matchAll(/<link href="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links).toHaveLength(10);
    for (const link of links) expect(existsSync(join(folder, 'deep/books', link))).toBe(true);
    expect(read('deep/books/versions/1.5.html')).toContain('href="../versions.atom"');
  });

  it('allows its own scripts, styles and requests, and requests to the API', () => {
    const pages = pagesIn('library');
    expect(pages.length).toBeGreaterThan(5);
    for (const file of pages) {
      const policy = /<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(
        read(join('library', file)),
      )?.[1];
      expect([file, policy]).toEqual([file, expect.stringContaining('default-src &#39;none&#39;')]);
      expect(policy).toMatch(/connect-src &#39;self&#39; https:\/\/library\.example\.com$/);
    }
  });

  it('rejects invalid options', async () => {
    const build = (options: object) => buildStaticSite({ ...books, ...options }, { folder });
    await expect(build({ colors: { accent: 'url(x)' } })).rejects.toThrow('"url(x)" is not a color');
    await expect(build({ colors: { pink: '#fff' } })).rejects.toThrow('unknown color "pink"');
    await expect(build({ logo: { type: 'text/html', content: '' } })).rejects.toThrow(
      'the logo has the type "text/html"',
    );
  });
});

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

describe.skipIf(!browserProgram())('a static site in a browser', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  let url: string;
  const faults: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      const file = join(folder, new URL(request.url ?? '/', 'http://site').pathname);
      if (!existsSync(file) || extname(file) === '') response.writeHead(404).end();
      else response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? '' }).end(readFileSync(file));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/deep/books`;
    browser = await chromium.launch({ executablePath: browserProgram() ?? '', args: browserFlags });
    page = await browser.newPage();
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(url)) faults.push(request.url());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => server.close(resolve));
  });

  const heading = () => page.locator('h1').first().textContent();

  /** Selects a version after the script that adds the slider has been loaded. */
  async function selectVersion(version: string) {
    await page.getByRole('slider', { name: 'Version' }).waitFor();
    await page.locator('#version').selectOption(version);
  }

  it('opens the page of another version', async () => {
    await page.goto(`${url}/index.html`);
    await selectVersion('1.5');
    await expect.poll(heading).toBe('Books 1.5');
    expect(page.url()).toBe(`${url}/at/1.5.html`);
    await page.locator('main a', { hasText: 'Add a book' }).click();
    await expect.poll(() => page.url()).toBe(`${url}/operations/createBook/1.5.html`);
    await selectVersion('1.9');
    await expect.poll(() => page.url()).toBe(`${url}/operations/createBook.html`);
    await expect.poll(() => page.locator('[id="body.book.shelf"]').count()).toBe(1);
  });

  it('compares two versions', async () => {
    const shown = () => page.locator('[data-step]:visible h2').allTextContents();
    await page.goto(`${url}/changes.html?from=1.2&to=1.7`);
    await expect.poll(shown).toEqual(['1.7', '1.5', '1.3']);
    await page.locator('#to').selectOption('1.5');
    await expect.poll(shown).toEqual(['1.5', '1.3']);
    await page.locator('[data-compare] [name=breaking]').check();
    await page.locator('#operation').fill('list');
    await expect.poll(shown).toEqual(['1.5']);
    const count = () => page.locator('[data-count]').textContent();
    await expect.poll(count).toBe('1 operations differ, 1 with breaking changes.');
  });

  it('searches despite typos', async () => {
    await page.goto(`${url}/versions/1.5.html`);
    await page.locator('.search input[type=search]').fill('spien');
    await page.keyboard.press('Enter');
    const found = () => page.locator('[data-results] a').allTextContents();
    await expect.poll(found).toEqual(['Add a book']);
    await page.locator('.search input[type=search]').fill('who is the author of a book');
    await expect.poll(async () => (await found())[0]).toBe('Version 1.5');
    await page.locator('.search input[type=search]').fill('what breaks from 1.3 to 1.7?');
    await expect.poll(async () => (await found())[0]).toBe('Changes from 1.3 to 1.7');
    await page.locator('[data-results] a').first().click();
    await expect.poll(() => page.locator('[data-step]:visible h2').allTextContents()).toEqual(['1.7', '1.5']);
  });

  it('causes no error and no request to another server', () => {
    expect(faults).toEqual([]);
  });
});
