import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { type Program, startProgram } from '../program.js';

const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the operators’ page: this machine has no Chromium ***\n');

const requireFrom = createRequire(join(import.meta.dirname, '../../../../packages/explorer/package.json'));
const VIEWS = ['servers', 'images', 'volumes', 'networks', 'hosts', 'usage', 'events', 'about'];

describe.skipIf(!executablePath)('the operators’ page', { timeout: 180_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'operators-'));
  let browser: Browser;
  let program: Program;
  let problems: string[] = [];
  /** Parts of error messages that a test causes intentionally. */
  let expected: readonly string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    program = await startProgram(['--db', ':memory:', '--events', '--log-level', 'silent']);
  }, 60_000);
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    // Violations of the content security policy are logged on the console, like errors.
    const found = problems.filter((problem) => !expected.some((text) => problem.includes(text)));
    problems = [];
    expected = [];
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await program?.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });

  async function open(
    url: string,
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<void> = async () => {},
  ): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      const { url: source } = message.location();
      if (message.type() === 'error') problems.push(`${message.text()} ${source}`);
    });
    await prepare(page);
    await page.goto(url);
    return page;
  }
  const row = (page: Page, name: string) => page.locator('#servers tr').filter({ hasText: name });
  const signIn = (page: Page) => page.getByRole('button', { name: 'Sign in' }).click();

  it('creates a server with three fields, shows its log and history, and deletes it', async () => {
    // Requests in flight when the server is deleted return 404.
    expected = ['404'];
    const page = await open(program.url);
    await expect.poll(() => page.locator('#events-note').textContent()).toContain('New events appear');
    await page.getByLabel('Name').fill('web');
    await page.getByRole('combobox', { name: /^Image/ }).selectOption({ label: 'cirros' });
    await page.getByLabel('Flavor').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Create' }).click();
    await row(page, 'web').getByText('active').waitFor();
    await expect.poll(() => page.locator('#counts').textContent()).toBe('1 server (1 active)');

    await page.getByRole('link', { name: 'web', exact: true }).click();
    await expect.poll(() => page.locator('.log').textContent()).toContain('web login:');
    await page.locator('.history > li', { hasText: /^create at/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#detail .chip', { hasText: 'shutoff' }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('#detail .chip', { hasText: 'active' }).waitFor();

    await page.getByRole('link', { name: /^Events/ }).click();
    await page.locator('#events tr', { hasText: 'instance.power_on.end' }).getByRole('link', { name: 'web' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete permanently?' }).click();
    await row(page, 'web').waitFor({ state: 'detached' });
    await page.locator('#detail').waitFor({ state: 'hidden' });
  });

  it('accepts a new server only after the form has loaded images and flavors', async () => {
    const page = await open(program.url, {}, async (opened) => {
      await opened.route('**/flavors/detail', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await route.continue();
      });
    });
    await page.getByLabel('Name').fill('early');
    await page.getByRole('button', { name: 'Create' }).click();
    await row(page, 'early').getByText('active').waitFor();
  });

  it('shows the message of the API for a request that it rejects', async () => {
    expected = ['400'];
    const page = await open(program.url);
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Name').fill('too-long');
    await page.getByLabel('User data').fill('x'.repeat(70_000));
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.locator('#create-problem').textContent()).toMatch(/user_data/);
  });

  it('offers key pairs that were added after the page was opened', async () => {
    const page = await open(program.url);
    const offered = () => page.locator('#create [name=key] option').allTextContents();
    await expect.poll(offered).toEqual(['None']);
    const headers = { 'X-Auth-Token': 'admin:demo', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ keypair: { name: 'laptop' } });
    const { status } = await fetch(`${program.url}/v2.1/os-keypairs`, { method: 'POST', headers, body });
    expect(status).toBe(200);
    await page.getByLabel('Name').focus();
    await expect.poll(offered).toEqual(['None', 'laptop']);
  });

  it('can be used without a mouse', async () => {
    // Requests in flight when the server is deleted return 404.
    expected = ['404'];
    const page = await open(program.url);
    await page.getByLabel('Name').focus();
    await expect.poll(() => page.getByLabel('Flavor').locator('option').count()).toBeGreaterThan(1);
    await page.keyboard.type('keys');
    await page.keyboard.press('Enter');
    await row(page, 'keys').getByText('active').waitFor();
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    await page.getByRole('link', { name: 'keys', exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('keys');
    await page.locator('#detail .chip', { hasText: 'active' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#detail').waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('A');
    await page.keyboard.press('Enter');
    const remove = page.locator('[data-deletes]');
    await remove.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => remove.textContent()).toBe('Delete permanently?');
    await page.keyboard.press('Enter');
    await row(page, 'keys').waitFor({ state: 'detached' });
  });

  it('asks users of --cloud to log in, does not store the token, and discards it after the logout', async () => {
    // Without --events, there is no event stream.
    expected = ['401', '/events'];
    const cloud = await startProgram(['--db', ':memory:', '--cloud', '--log-level', 'silent']);
    const [, password = ''] = await cloud.printed(/^export OS_PASSWORD=(\S+)$/m);
    const page = await open(cloud.url);
    await page.getByLabel('Password').fill('wrong');
    await signIn(page);
    await page.getByText('The user, the password or the project is wrong.').waitFor();
    await page.getByLabel('Password').fill(password);
    await signIn(page);
    await page.getByText('admin in admin').waitFor();
    await page.getByText('No servers yet').waitFor();
    const stored = () => page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length');
    await expect.poll(stored).toBe(0);
    await expect.poll(() => page.getByLabel('Password').inputValue()).toBe('');

    await page.route('**/v2.1/**', (route) => route.fulfill({ status: 401, body: '' }));
    await page.getByText('The token has expired: sign in again.').waitFor();
    await page.unroute('**/v2.1/**');
    await page.getByLabel('Password').fill(password);
    await signIn(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await expect.poll(() => page.locator('#view-servers').isVisible()).toBe(false);
    await page.context().close();
    await cloud.end('SIGTERM');
  });

  it('accepts tokens from a file, and shows members only what they may see', async () => {
    expected = ['401', '/os-hypervisors', '/events'];
    const tokens = join(directory, 'tokens.json');
    const caller = { userId: 'ada', projectId: 'demo', roles: ['member', 'reader'] };
    writeFileSync(tokens, JSON.stringify({ 'a-token-of-ada': caller }));
    const server = await startProgram(
      ['--db', ':memory:', '--auth', 'tokens', '--tokens', tokens, '--log-level', 'silent'],
      {},
    );
    const page = await open(server.url);
    await page.getByLabel('Token').fill('unknown');
    await signIn(page);
    await page.getByText('The server does not accept this token.').waitFor();
    await page.getByLabel('Token').fill('a-token-of-ada');
    await signIn(page);
    await page.getByText('No servers yet').waitFor();
    await page.getByRole('link', { name: /^Networks/ }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: /^Hosts/ }).count()).toBe(0);
    await expect.poll(() => page.getByRole('link', { name: /^Events/ }).count()).toBe(0);
    await page.context().close();
    await server.end('SIGTERM');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 390],
    ['light', 414],
    ['dark', 320],
  ] as const)('is accessible in the %s color scheme, and fits into %i pixels of width', async (colorScheme, width) => {
    const page = await open(program.url, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    const name = `server-with-a-long-name-${colorScheme}-${width}`;
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create' }).click();
    await row(page, name).getByText('active').waitFor();
    await page.addScriptTag({ path: requireFrom.resolve('axe-core/axe.min.js') });
    const check = async (view: string) => {
      const overflow = () =>
        page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      await expect.poll(overflow, { message: view }).toBe(0);
      const violations = () =>
        page.evaluate<string[]>(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))',
        );
      await expect.poll(violations, { message: view }).toEqual([]);
    };
    for (const view of VIEWS) {
      await page.evaluate(`location.hash = '#${view}'`);
      await page.locator(`#view-${view}`).waitFor();
      await check(view);
    }
    await page.getByRole('link', { name: /^Servers/ }).click();
    await page.getByRole('link', { name, exact: true }).click();
    await page.locator('#detail').waitFor();
    await check('a server');
  });

  it('shows address, versions and links without JavaScript', async () => {
    const page = await open(program.url, { javaScriptEnabled: false });
    await page.getByText('The server is running.').waitFor();
    await expect.poll(() => page.locator('.facts').textContent()).toMatch(/2\.1 to 2\.100/);
  });
});
