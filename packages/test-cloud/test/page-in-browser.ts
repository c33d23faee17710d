import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';
import type { TestCloud } from '../src/index.js';
import { clientOf, cloudUnderTest, NETWORK, serverBody } from './clouds.js';

/** The installed Chromium; undefined if there is none. */
export const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the page of the test cloud: this machine has no Chromium ***\n');

/** A browser for pages of test clouds. */
export class PageBrowser {
  readonly #browser: Browser;
  #problems: readonly string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<PageBrowser> {
    return new PageBrowser(await chromium.launch({ executablePath, headless: true, args: browserFlags }));
  }

  async open(cloud: TestCloud, options: Parameters<Browser['newPage']>[0] = {}, at = '/'): Promise<Page> {
    const page = await this.#browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    page.on('pageerror', (error) => this.#complain(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.#complain(message.text()));
    await page.goto(`${cloud.url}${at}`);
    await page.locator('#counts', { hasText: 'server' }).waitFor();
    return page;
  }

  #complain(problem: string): void {
    this.#problems = [...this.#problems, problem];
  }

  /** Discards problems that a test has caused intentionally. */
  forgive(text: string): void {
    this.#problems = this.#problems.filter((problem) => !problem.includes(text));
  }

  /** Closes all pages. Fails if they have caused a problem. */
  async closePages(): Promise<void> {
    await Promise.all(this.#browser.contexts().map((context) => context.close()));
    // Violations of the content security policy are logged to the console like errors.
    const problems = this.#problems;
    this.#problems = [];
    expect(problems).toEqual([]);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** Starts a cloud in which a server is read, stopped and read again, with one token. */
export async function cloudWithStoppedServer() {
  const cloud = await cloudUnderTest({ control: true });
  const token = cloud.token();
  const request = clientOf(cloud, token);
  const created = await request(
    'POST',
    '/compute/v2.1/servers',
    serverBody({ name: "it's <b>bold</b>", networks: [{ uuid: NETWORK }] }),
  );
  const path = `/compute/v2.1/servers/${created.body.server.id}`;
  await cloud.idle();
  await request('GET', path);
  await request('POST', `${path}/action`, { 'os-stop': null });
  await cloud.idle();
  await request('GET', path);
  await request('GET', '/image/v2/images/nothing');
  await request('GET', '/network/v2.0/nothing');
  return { cloud, token, request, path, id: created.body.server.id as string };
}

/** The rows of one of the page's tables. */
export const rows = (page: Page, table: string) => page.locator(`#${table} tr`);
