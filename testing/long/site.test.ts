import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { filesFor } from '../../site/check-links.mjs';
// @ts-expect-error: scripts have no types
import { addressOf, areas } from '../../site/pages.mjs';
import { browserFlags, browserProgram } from '../browser.js';

interface Area {
  readonly text: string;
  readonly groups: readonly { readonly pages: readonly object[] }[];
}

const root = join(import.meta.dirname, '../..');
const site = join(root, 'site/dist/public');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** An expression for the browser: the text of a page. */
const POLL = `({
  title: document.querySelector('h1')?.textContent ?? '',
  scheme: document.documentElement.classList.contains('dark') ? 'dark' : 'light',
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
})`;

/** Window widths, each with a color scheme. */
const LOOKS = [
  ...[320, 360, 390, 414, 1280].map((width) => ({ width, scheme: 'light' as const })),
  ...[1280, 360].map((width) => ({ width, scheme: 'dark' as const })),
];

/** All pages, grouped by area. Each area has its own test, because a single test takes minutes on a busy machine. */
const ADDRESSES: readonly { readonly area: string; readonly addresses: readonly string[] }[] = [
  {
    area: 'the start and the API reference',
    addresses: ['/', '/reference/api/quota', '/reference/api/compute-engine'],
  },
  ...areas.map(({ text, groups }: Area) => ({
    area: text,
    addresses: groups.flatMap((group) => group.pages).map(addressOf),
  })),
];

/** A page of each kind: home, a guide with commands, tables, a package's names, a page with its own script, charts. */
const KINDS = [
  '/',
  '/guide/quick-start',
  '/guide/compare-api-versions',
  '/reference/api/quota',
  '/reference/what-breaks',
  '/reference/architecture',
];

const AXE = createRequire(join(root, 'packages/explorer/package.json')).resolve('axe-core/axe.min.js');

/** Runs `npm run docs`. Returns its exit status and output. */
async function build(): Promise<{ readonly status: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [join(root, 'scripts/docs.mjs')], { cwd: root, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, output };
}

/** The name of an entry point's page below `reference/api`. */
function pageOf(entryPoint: string): string {
  // The page of a type whose name differs only in case has a number.
  return entryPoint === 'compute-engine/preset' ? `${entryPoint}-1` : entryPoint;
}

/** Serves the built site as a host of static files does. */
function serveSite(): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const names: readonly string[] = filesFor(decodeURIComponent(pathname));
    const file = names.map((name) => join(site, name)).find((name) => existsSync(name) && extname(name));
    if (!file) response.writeHead(404).end();
    else response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
  });
}

describe.skipIf(!browserProgram())('the site', () => {
  let built: Awaited<ReturnType<typeof build>>;
  let server: Server;
  let url: string;
  let browser: Browser;
  beforeAll(async () => {
    built = await build();
    server = serveSite();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: browserProgram() ?? '', args: browserFlags });
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens a page of the site. `faults` receives errors of its scripts and requests to other servers. */
  async function open(path: string, faults: string[] = []): Promise<Page> {
    const page = await browser.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) faults.push(request.url());
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.goto(url + path);
    return page;
  }

  /** Selects a version in the explorer when its script, which adds the slider, has been loaded. */
  async function selectVersion(page: Page, version: string): Promise<void> {
    await page.getByRole('slider', { name: 'Version' }).waitFor();
    await page.locator('#version').selectOption(version);
  }

  it('is built without dead links', () => {
    expect(built.output).not.toContain('Dead links');
    expect(built.status, built.output).toBe(0);
  });

  it('has every public name in the API reference', () => {
    const [, ...blocks] = readFileSync(join(root, 'testing/entry-points.txt'), 'utf8').split(/^@apistrata\//m);
    const missing = blocks.flatMap((block) => {
      const [head = '', ...lines] = block.trim().split('\n');
      const page = readFileSync(join(site, 'reference/api', `${pageOf(head.split(' ')[0] ?? '')}.html`), 'utf8');
      const names = lines.map((line) => line.trim().replace(/^type /, ''));
      const isShown = (name: string) =>
        ['', 'abstract-'].some((before) => page.includes(` id="${before}${name.toLowerCase()}`)) ||
        page.includes(`>${name}</a>`);
      return names.filter((name) => !isShown(name)).map((name) => `${head}: ${name}`);
    });
    expect(blocks.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  it('draws the imports of the packages', async () => {
    const page = await open('/reference/architecture');
    const width = () => page.evaluate(`document.querySelector('img[src="/images/packages.svg"]').naturalWidth`);
    await expect.poll(width).toBeGreaterThan(400);
    expect(readFileSync(join(site, 'images/packages.svg'), 'utf8')).toContain('>compute-engine<');
    await page.close();
  });

  it('compares any two versions, and keeps the selection in the address', async () => {
    const page = await open('/reference/what-breaks?from=2.63&to=2.64');
    const versions = () => page.locator('.breaking h3').allTextContents();
    await expect.poll(versions).toEqual(['2.64']);
    await page.locator('select').last().selectOption('2.69');
    await expect.poll(versions).toEqual(['2.64', '2.68', '2.69']);
    expect(page.url()).toContain('from=2.63&to=2.69');
    await page.close();
  });

  it('contains the explorer of the compute API at all versions', async () => {
    const faults: string[] = [];
    const page = await open('/guide/', faults);
    await page.getByRole('navigation').getByRole('link', { name: 'Explorer' }).first().click();
    const heading = () => page.locator('h1').first().textContent();
    await expect.poll(heading).toMatch(/^Compute API 2\.\d{3}$/);
    await selectVersion(page, '2.26');
    await expect.poll(heading).toMatch(/ 2\.26$/);
    await page.goto(`${url}/compute-api/operations/showServer.html`);
    await selectVersion(page, '2.30');
    await expect.poll(() => page.url()).toMatch(/showServer\/2\.\d+\.html$/);
    await page.setViewportSize({ width: 360, height: 800 });
    const overflow = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    await expect.poll(overflow).toBe(0);
    await page.goto(`${url}/compute-api/changes.html?from=2.53&to=2.96&breaking=only`);
    await expect.poll(() => page.locator('[data-count]').textContent()).toMatch(/^\d+ operations differ/);
    expect(faults).toEqual([]);
    await page.close();
  });

  it.each([
    ['which version added tags to servers', 'Version 2.26', 'Adds server tags'],
    ['what breaks from 2.53 to 2.96', 'Changes from 2.53 to 2.96', 'operations differ'],
    ['why do I get 409 on resize', 'Resize a server', 'In other states, the response is 409'],
  ])('answers "%s" with one search in the explorer', async (words, result, fact) => {
    const page = await open(`/compute-api/search.html?q=${encodeURIComponent(words)}`);
    const results = page.locator('[data-results] > li > a');
    await expect.poll(async () => (await results.allTextContents()).slice(0, 3)).toContain(result);
    await results.getByText(result, { exact: true }).click();
    await expect.poll(() => page.locator('main').textContent()).toContain(fact);
    await page.close();
  });

  it.each(ADDRESSES)(
    'shows the pages of $area without overflow, light and dark, and without requests to other servers',
    async ({ addresses }) => {
      const faults: string[] = [];
      const page = await open('/', faults);
      for (const address of addresses) {
        await page.goto(url + address);
        for (const { width, scheme } of LOOKS) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme: scheme });
          const look = () => page.evaluate(POLL);
          await expect
            .poll(look, { message: `${address} at ${width} px, ${scheme}` })
            .toEqual({ title: expect.stringMatching(/\w/), scheme, overflow: 0 });
        }
      }
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async (colorScheme) => {
    const page = await open('/');
    await page.emulateMedia({ colorScheme });
    // The search button also shows its shortcut, which is not part of its name.
    const options = JSON.stringify({ rules: { 'label-content-name-mismatch': { enabled: false } } });
    for (const address of KINDS) {
      await page.goto(url + address);
      await page.addScriptTag({ path: AXE });
      const violations = () =>
        page.evaluate<string[]>(
          `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
        );
      await expect.poll(violations, { message: address }).toEqual([]);
    }
    await page.close();
  });

  it.each([
    ['which version added tags to servers', /tags to servers/, '2.26 added tags to servers'],
    ['what breaks from 2.53 to 2.96', /breaks from 2\.53 to 2\.96/, 'hypervisors no longer show their capacity'],
    ['why do I get 409 on resize', /409 on resize/, 'confirmResize'],
    ['how do I use it with Jest', /with Jest/, 'CommonJS'],
  ])('finds "%s" first', async (words, title, fact) => {
    const page = await open('/');
    await page.locator('.VPNavBarSearch button').click();
    await page.locator('.search-input').fill(words);
    const first = page.locator('.VPLocalSearchBox .result').first();
    await expect.poll(() => first.textContent()).toMatch(title);
    await first.click();
    await expect.poll(() => page.locator('main').textContent()).toContain(fact);
    await page.close();
  });

  it.each([
    [
      'which version added tags to servers',
      ['Guide', 'Questions and answers', 'Which version added tags to servers?'],
      '2.26 added tags to servers',
    ],
    [
      'what breaks from 2.53 to 2.96',
      ['Reference', 'What breaks between versions'],
      'operations with breaking changes',
    ],
    ['why do I get 409 on resize', ['Guide', 'Troubleshooting', 'Why do I get 409 on resize?'], 'confirmResize'],
    ['how do I use it with Jest', ['Guide', 'Testing with Jest'], 'apistrata-test-cloud --quiet -- jest'],
  ])('answers "%s" with at most three clicks', async (_question, links, fact) => {
    const page = await open('/');
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const name of links) await page.getByRole('link', { name, exact: true }).first().click();
    await expect.poll(() => page.locator('main').textContent()).toContain(fact);
    await page.close();
  });
});
