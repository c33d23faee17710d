import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';

const executablePath = browserProgram();
if (!executablePath)
  console.warn('\n*** SKIPPED: request forms of the compute API: this machine has no Chromium ***\n');

describe.skipIf(!executablePath)('the request forms of the compute API, sent unchanged,', () => {
  let browser: Browser;
  let cloud: TestCloud;
  let page: Page;

  beforeAll(async () => {
    [cloud, browser] = await Promise.all([
      startCloud(),
      chromium.launch({ executablePath, headless: true, args: browserFlags }),
    ]);
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await cloud?.stop();
  });

  /** Opens the form of an operation with the keyboard, and waits until all its values are loaded. */
  async function openForm(name: string, query = '') {
    await page.goto(`${cloud.url}/docs/operations/${name}${query}`);
    await page.keyboard.press('t');
    await page.locator('form[data-try][data-filled="complete"]').waitFor();
  }
  const send = async (status: number) => {
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('[data-said]').textContent()).toBe(`Response: ${status}.`);
  };

  it.each([
    ['listFlavors', 200],
    ['createServer', 202],
    ['listServersDetail', 200],
    ['showServer', 200],
    ['stopServer', 202],
    ['createKeypair', 201],
    ['showKeypair', 200],
    ['listServerTags', 200],
    ['showLimits', 200],
    ['deleteServer', 204],
  ])('%s succeeds', async (name, status) => {
    await openForm(name);
    await send(status);
  });

  it('also succeed at an old version', async () => {
    await openForm('createServer', '?version=2.1');
    await send(202);
  });

  it('are on pages that fit 320 pixels when everything is open', async () => {
    const narrow = await browser.newPage({ viewport: { width: 320, height: 700 } });
    for (const path of [
      '/operations/listServersDetail',
      '/operations/createServer',
      '/changes?from=2.1',
      '/search?q=server',
    ]) {
      await narrow.goto(`${cloud.url}/docs${path}`);
      await narrow.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true");
      const wide = await narrow.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([path, wide]).toEqual([path, 0]);
    }
    await narrow.close();
  });

  it('log in with a user name and a password', async () => {
    await openForm('listServers');
    await page.getByText('Log in', { exact: true }).first().click();
    await page.getByLabel('User', { exact: true }).fill('demo');
    await page.getByLabel('Password', { exact: true }).fill('secret');
    await page.getByLabel('Project', { exact: true }).fill('demo');
    await page.getByLabel('X-Auth-Token').fill('unknown');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Logged in.').waitFor();
    await expect.poll(() => page.getByLabel('X-Auth-Token').inputValue()).not.toBe('unknown');
    await page.getByRole('button', { name: /^Send at/ }).click();
    await page.getByText('Response: 200.').waitFor();
  });
});
