import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../../../../testing/servers.js';
import { clientOf, cloudUnderTest, NETWORK, serverBody } from '../../clouds.js';
import { cloudWithStoppedServer, executablePath, PageBrowser, rows } from '../../page-in-browser.js';

const run = promisify(execFile);
const curl = findProgram('curl');
if (!curl) console.warn('\n*** SKIPPED: requests as curl commands: this machine has no curl ***\n');

describe.skipIf(!executablePath)('the page', () => {
  let browser: PageBrowser;
  beforeAll(async () => {
    browser = await PageBrowser.launch();
  });
  afterAll(() => browser?.close());
  afterEach(() => browser.closePages());
  const open: PageBrowser['open'] = (...given) => browser.open(...given);

  it('shows servers, hosts and requests, follows changes, and escapes names', async () => {
    const cloud = await cloudUnderTest();
    const send = clientOf(cloud);
    const page = await open(cloud);
    await page.getByText('No requests yet').waitFor();
    await page.getByRole('link', { name: 'Servers' }).click();
    await page.getByText('No servers yet').waitFor();

    await send('POST', '/compute/v2.1/servers', serverBody({ name: '<b>bold</b>', networks: [{ uuid: NETWORK }] }));
    await cloud.idle();
    await page.locator('#servers').getByText('<b>bold</b>').waitFor();
    await expect.poll(() => page.locator('b').count()).toBe(0);
    await expect.poll(() => page.locator('#counts').textContent()).toBe('1 server (1 active)');
    const cells = () => rows(page, 'servers').first().locator('td').allInnerTexts();
    await expect.poll(async () => (await cells()).slice(1, 4)).toEqual(['active', '–', 'm1.tiny']);
    await expect.poll(async () => (await cells())[5]).toMatch(/^10\.0\./);
    await page.getByRole('link', { name: 'Hosts' }).click();
    const hosts = () => rows(page, 'hosts').allInnerTexts();
    await expect.poll(hosts).toHaveLength(2);
    await expect.poll(async () => (await hosts()).join()).toContain('1 of 64');
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    const request = rows(page, 'requests').filter({ hasText: 'POST' });
    await expect
      .poll(async () => (await request.locator('td').allInnerTexts()).slice(1, 5))
      .toEqual(['202', 'POST', '/compute/v2.1/servers', '2.90']);
    await expect.poll(() => request.textContent()).toMatch(/req-[0-9a-f-]{36}/);
    await send('GET', '/network/v2.0/nothing');
    await page.getByRole('link', { name: 'Unhandled requests 1' }).click();
    await page.getByText('GET /network/v2.0/nothing').waitFor();
  });

  it('creates and deletes a server with requests that are not in the journal, nor subject to rules', async () => {
    const cloud = await cloudUnderTest({ control: true });
    cloud.rules.http({ match: { path: /servers/ }, status: 503 });
    const page = await open(cloud, {}, '/#servers');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('by-page');
    await page.getByRole('button', { name: 'Create' }).click();
    await rows(page, 'servers').getByText('active').waitFor();
    await page.getByRole('link', { name: 'by-page', exact: true }).click();
    await expect.poll(() => page.locator('.log').textContent()).toContain('by-page login:');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete permanently?' }).click();
    await page.getByText('No servers yet').waitFor();
    await page.locator('#detail').waitFor({ state: 'hidden' });
    // A request may have been in progress when the server was deleted.
    browser.forgive('404');
    expect(cloud.requests()).toEqual([]);
  });

  it('shows settings for clients, ready to paste', async () => {
    const cloud = await cloudUnderTest();
    const page = await open(cloud);
    await page.getByRole('link', { name: 'Connect a client' }).click();
    const env = () => page.locator('#client-env').textContent();
    await expect.poll(env).toContain(`export OS_AUTH_URL=${cloud.authUrl}\n`);
    expect(await env()).toContain('export OS_PASSWORD=');
    await expect.poll(() => page.locator('#client-yaml').textContent()).toBe(cloud.cloudsYaml);
  });

  it('filters requests by service, status and text of either message', async () => {
    const { cloud, request } = await cloudWithStoppedServer();
    const page = await open(cloud);
    await expect.poll(() => rows(page, 'requests').count()).toBe(6);
    await page.getByLabel('Service').selectOption('compute');
    await expect.poll(() => rows(page, 'requests').count()).toBe(4);
    await page.locator('#filter').getByLabel('Status').selectOption('4xx');
    await page.getByText('No requests match').waitFor();
    await page.getByLabel('Service').selectOption('');
    await expect
      .poll(() => rows(page, 'requests').allInnerTexts())
      .toEqual([expect.stringContaining('/network/v2.0/nothing'), expect.stringContaining('/image/v2/images/nothing')]);
    await page.locator('#filter').getByLabel('Status').selectOption('');
    await page.getByLabel('Text').fill('OS-STOP');
    await expect.poll(() => rows(page, 'requests').count()).toBe(1);
    // The filter also applies to later requests.
    await request('GET', '/image/v2/images');
    await page.getByLabel('Text').fill('image');
    await expect.poll(() => rows(page, 'requests').filter({ hasText: '/image/' }).count()).toBe(2);
  });

  it('shows a request, its response and the resulting changes', async () => {
    const { cloud, id } = await cloudWithStoppedServer();
    const page = await open(cloud);
    await page.getByRole('link', { name: `/compute/v2.1/servers/${id}/action` }).click();
    const detail = page.locator('#detail');
    await detail.getByText('"os-stop": null').waitFor();
    await expect.poll(() => detail.locator('h2').textContent()).toBe(`POST /compute/v2.1/servers/${id}/action`);
    const changed = () => detail.locator('#changes').textContent();
    await expect.poll(changed).toMatch(/status\s*"ACTIVE" → "SHUTOFF"/);
    await expect.poll(changed).not.toContain('name');
    await expect.poll(() => detail.locator('.history').textContent()).toMatch(/stop at .*Success/s);
    await detail.getByText('headers').first().click();
    await expect.poll(() => detail.textContent()).toMatch(/x-auth-token\s*\*\*\*/);
    await expect.poll(() => page.locator('tr.chosen').count()).toBe(1);
    await detail
      .getByRole('link', { name: /request \d/ })
      .last()
      .click();
    await expect.poll(() => detail.locator('h2').textContent()).toBe(`GET /compute/v2.1/servers/${id}`);
  });

  it.skipIf(!curl)('exports a request as a curl command that repeats it', async () => {
    const { cloud } = await cloudWithStoppedServer();
    const page = await open(cloud, { permissions: ['clipboard-read', 'clipboard-write'] } as object);
    await page.getByRole('link', { name: '/compute/v2.1/servers', exact: true }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = await page.evaluate('navigator.clipboard.readText()');
    const { stdout } = await run('sh', ['-c', String(command)], { env: { ...process.env, OS_TOKEN: cloud.token() } });
    expect(JSON.parse(stdout)).toHaveProperty('server.id');
    const [first, again] = cloud.requests({ method: 'POST', url: /servers$/ });
    expect(again?.requestBody).toEqual(first?.requestBody);
    expect(again?.version).toBe('2.90');
  });

  it('creates a rule from a request, counts its matches, and deletes it', async () => {
    const { cloud, request } = await cloudWithStoppedServer();
    const page = await open(cloud);
    await page.getByRole('link', { name: '/image/v2/images/nothing' }).click();
    await page.getByRole('button', { name: 'Create a rule from this request' }).click();
    await expect.poll(() => page.getByLabel('Path').inputValue()).toBe('/image/v2/images/nothing');
    await page.getByLabel('Respond with status').fill('507');
    await page.getByLabel('Times').fill('2');
    await page.getByRole('button', { name: 'Add' }).click();
    await rows(page, 'rules').getByText('times 2, status 507').waitFor();
    expect((await request('GET', '/image/v2/images/nothing')).status).toBe(507);
    await expect.poll(() => rows(page, 'rules').locator('td').nth(4).textContent()).toBe('1');
    await page.getByRole('button', { name: /^Remove rule/ }).click();
    await page.getByText('No rules').waitFor();
    expect((await request('GET', '/image/v2/images/nothing')).status).toBe(404);
  });

  it('adds rules manually, shows those that programs added, and reports invalid ones', async () => {
    const cloud = await cloudUnderTest({ control: true });
    cloud.rules.http({ match: { path: /flavors$/i }, delayMs: 1 });
    const page = await open(cloud, {}, '/#rules');
    await rows(page, 'rules').getByText('path /flavors$/i').waitFor();
    await page.getByLabel('Machines').check();
    await page.getByLabel('Step').fill('spawn');
    await page.getByLabel('Server name').fill('/^bad-/');
    await page.getByLabel('Hang until resumed').check();
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: /^Resume/ }).waitFor();
    const { body } = await clientOf(cloud)('POST', '/compute/v2.1/servers', serverBody({ name: 'bad-1' }));
    const status = async () =>
      (await clientOf(cloud)('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server.status;
    const hanging = rows(page, 'rules').filter({ hasText: 'spawn' });
    await expect.poll(() => hanging.locator('td').nth(4).textContent()).toBe('1');
    expect(await status()).toBe('BUILD');
    await page.getByRole('button', { name: /^Resume/ }).click();
    await expect.poll(status).toBe('ACTIVE');

    await page.getByRole('radio', { name: 'Requests' }).check();
    await page.getByLabel('Path').fill('/(/');
    await page.getByRole('button', { name: 'Add' }).click();
    await expect
      .poll(() => page.getByRole('alert').allTextContents())
      .toContainEqual(expect.stringContaining('egular'));
    await page.getByLabel('and this JSON').fill('{');
    await page.getByRole('button', { name: 'Add' }).click();
    await expect.poll(() => page.getByRole('alert').allTextContents()).toContainEqual(expect.stringContaining('JSON'));
    browser.forgive('400 (Bad Request)');
  });

  it('freezes and advances the clock', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const page = await open(cloud);
    await page.getByRole('button', { name: 'Freeze' }).click();
    await page.getByText('UTC, frozen').waitFor();
    await expect.poll(() => cloud.clock.frozen).toBe(true);
    const before = cloud.clock.now();
    await page.getByLabel('Advance by').fill('1h30m');
    await page.getByLabel('Advance by').press('Enter');
    await expect.poll(() => cloud.clock.now() - before).toBe(5_400_000);
    await page.getByRole('button', { name: 'Freeze' }).click();
    await expect.poll(() => cloud.clock.frozen).toBe(false);
  });

  it('shows how long the servers of a project have run', async () => {
    const cloud = await cloudUnderTest({ control: true });
    await clientOf(cloud)('POST', '/compute/v2.1/servers', serverBody({ networks: [{ uuid: NETWORK }] }));
    await cloud.idle();
    const page = await open(cloud, {}, '/#usage');
    const hours = async () => (await rows(page, 'usage').locator('td').allInnerTexts()).slice(1);
    await expect.poll(hours).toEqual(['0.0', '0.0', '0.0']);
    await cloud.clock.advance('36h');
    await expect.poll(hours).toEqual(['36.0', '36.0', '18.0']);
  });

  it('changes nothing if the cloud was started without control', async () => {
    const cloud = await cloudUnderTest();
    cloud.rules.http({ match: { path: '/x' }, status: 503 });
    const page = await open(cloud, {}, '/#rules');
    await rows(page, 'rules').getByText('path /x').waitFor();
    await page.getByText('started without control').waitFor();
    await expect.poll(() => page.getByRole('button').count()).toBe(0);
  });

  it('shows the history of a server', async () => {
    const { cloud, id } = await cloudWithStoppedServer();
    const page = await open(cloud, {}, '/#servers');
    await page.getByRole('link', { name: "it's <b>bold</b>" }).click();
    const history = page.locator('.history > li');
    await expect
      .poll(() => history.allInnerTexts())
      .toEqual([expect.stringMatching(/^stop at/), expect.stringMatching(/^create at/)]);
    await expect.poll(() => page.url()).toContain(`#servers/${id}`);
  });

  it('exports the filtered requests as a HAR file', async () => {
    const { cloud, token, path } = await cloudWithStoppedServer();
    const page = await open(cloud);
    await page.getByLabel('Service').selectOption('compute');
    await page.getByLabel('Text').fill('action');
    await expect.poll(() => rows(page, 'requests').count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as HAR' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('test-cloud.har');
    const { log } = JSON.parse(await readFile((await download.path())!, 'utf8'));
    expect(log).toMatchObject({
      version: '1.2',
      entries: [{ request: { method: 'POST' }, response: { status: 202 } }],
    });
    expect(log.entries[0].request.url).toBe(`${cloud.url}${path}/action`);
    expect(JSON.parse(log.entries[0].request.postData.text)).toEqual({ 'os-stop': null });
    expect(log.entries[0].request.headers).toContainEqual({ name: 'x-auth-token', value: '***' });
    expect(JSON.stringify(log)).not.toContain(token);
  });
  it('links to the documents of the compute API, where operations can be tried', async () => {
    const cloud = await cloudUnderTest();
    const page = await open(cloud);
    await page.getByRole('link', { name: 'Compute API' }).click();
    await page.waitForURL('**/docs**');
    await page.goto(`${cloud.url}/docs/operations/listFlavors?version=2.90`);
    await page.keyboard.press('t');
    await page.getByRole('button', { name: /^Send at/ }).click();
    await page.locator('[data-content]').getByText('m1.tiny').first().waitFor();
  });
});
