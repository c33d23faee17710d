import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { logIn } from '../log-in.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: the operators’ page: this machine has no Chromium ***\n');

const MIB = 2 ** 20;

/** Checks the contents of the tables against resources that clients create, change and delete. */
describe.skipIf(!executablePath)('the views of the operators’ page', { timeout: 120_000 }, () => {
  let program: Program;
  let browser: Browser;
  let page: Page;
  let token: string;
  let projectId: string;
  const ids = { image: '', network: '', server: '' };

  /** Sends a request as the administrator, and returns the response’s body. */
  async function send(method: string, path: string, body?: object, version?: string): Promise<any> {
    const response = await sendRequest(program.url, method, path, { token, body, ...(version && { version }) });
    expect(response.status, `${method} ${path} ${JSON.stringify(response.body)}`).toBeLessThan(300);
    return response.body;
  }

  async function requestToken(): Promise<void> {
    const [, password] = await program.printed(/^export OS_PASSWORD=(\S+)$/m);
    const domain = { id: 'default' };
    const identity = { methods: ['password'], password: { user: { name: 'admin', domain, password } } };
    const auth = { identity, scope: { project: { name: 'admin', domain } } };
    const { headers, body } = await sendRequest(program.url, 'POST', '/identity/v3/auth/tokens', { body: { auth } });
    token = headers.get('X-Subject-Token') ?? '';
    projectId = body.token.project.id;
  }

  /** Opens a view, and returns a function that returns the cells of the row that begins with a name. */
  async function openView(view: string, table = view.toLowerCase()) {
    await page.getByRole('link', { name: new RegExp(`^${view}`) }).click();
    await page.getByRole('heading', { name: view, exact: true }).waitFor();
    return (name: string) =>
      page
        .locator(`#${table} tr`)
        .filter({ has: page.getByRole('cell', { name, exact: true }) })
        .locator('td')
        .allInnerTexts();
  }
  const countOf = (view: string) => page.locator(`[data-view=${view}] .count`).textContent();

  beforeAll(async () => {
    program = await startProgram(['--db', ':memory:', '--cloud', '--log-level', 'silent']);
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    await requestToken();
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await logIn(page, program);
    await page.getByText('No servers yet').waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await program?.end('SIGTERM');
  });

  it('shows an image with its state, size and minimum disk as soon as it is uploaded', async () => {
    const row = await openView('Images');
    const fields = { name: 'small', disk_format: 'raw', container_format: 'bare', min_disk: 2 };
    const image = await send('POST', '/image/v2/images', fields);
    ids.image = image.id;
    await expect
      .poll(() => row('small'))
      .toEqual(['small', 'saving', '0 MiB', '2 GiB', expect.stringMatching(/^20\d\d-/), image.id]);
    const { status } = await fetch(`${program.url}/image/v2/images/${image.id}/file`, {
      method: 'PUT',
      headers: { 'X-Auth-Token': token, 'Content-Type': 'application/octet-stream' },
      body: new Uint8Array(3 * MIB),
    });
    expect(status).toBe(204);
    await expect.poll(async () => (await row('small')).slice(0, 4)).toEqual(['small', 'active', '3 MiB', '2 GiB']);
  });

  it('shows a network with its MTU and project', async () => {
    const row = await openView('Networks');
    const { network } = await send('POST', '/network/v2.0/networks', { network: { name: 'blue', mtu: 1400 } });
    ids.network = network.id;
    const subnet = { network_id: network.id, ip_version: 4, cidr: '10.20.0.0/24' };
    await send('POST', '/network/v2.0/subnets', { subnet });
    await expect.poll(() => row('blue')).toEqual(['blue', '1400', projectId, network.id]);
    await expect.poll(async () => (await row('public')).slice(0, 3)).toEqual(['public', '1500', '–']);
  });

  it('shows a server with its state, flavor, host and addresses, and follows changes', async () => {
    const row = await openView('Servers');
    const server = { name: 'web', imageRef: ids.image, flavorRef: '2', networks: [{ uuid: ids.network }] };
    ids.server = (await send('POST', '/v2.1/servers', { server })).server.id;
    await expect.poll(async () => (await row('web'))[1]).toBe('active');
    const [name, , task, flavor, host, addresses, id] = await row('web');
    expect([name, task, flavor, id]).toEqual(['web', '–', 'm1.small', ids.server]);
    expect(addresses).toMatch(/^10\.20\.0\.\d+$/);
    const shown = await send('GET', `/v2.1/servers/${ids.server}`);
    expect(host).toBe(shown.server['OS-EXT-SRV-ATTR:host']);
    await send('POST', `/v2.1/servers/${ids.server}/action`, { 'os-stop': null });
    await expect.poll(async () => (await row('web'))[1]).toBe('shutoff');
    await expect.poll(() => page.locator('#counts').textContent()).toBe('1 server (1 shutoff)');
  });

  it('shows a volume with its size and state, and the server to which it is attached', async () => {
    const row = await openView('Volumes');
    await send('POST', '/volume/v3/types', { volume_type: { name: 'fast' } });
    const fields = { name: 'data', size: 3, volume_type: 'fast' };
    const { volume } = await send('POST', '/volume/v3/volumes', { volume: fields });
    await expect.poll(() => row('data')).toEqual(['data', 'available', '3 GiB', 'fast', '–', volume.id]);
    await expect.poll(() => countOf('volumes')).toBe('1');
    const attachments = `/v2.1/servers/${ids.server}/os-volume_attachments`;
    await send('POST', attachments, { volumeAttachment: { volumeId: volume.id } });
    await expect.poll(() => row('data')).toEqual(['data', 'in-use', '3 GiB', 'fast', ids.server, volume.id]);
    await page.locator('#volumes').getByRole('link', { name: ids.server }).click();
    await page.locator('#detail').getByRole('heading', { name: 'web' }).waitFor();
    await openView('Volumes');
    await send('DELETE', `${attachments}/${volume.id}`);
    await expect.poll(() => row('data')).toEqual(['data', 'available', '3 GiB', 'fast', '–', volume.id]);
    await send('DELETE', `/volume/v3/volumes/${volume.id}`);
    await page.locator('#volumes').getByText('No volumes yet').waitFor();
    await expect.poll(() => countOf('volumes')).toBe('');
  });

  it('shows the limits and the usage of the project', async () => {
    await openView('Usage');
    const cells = (table: string, name: string) =>
      page.locator(`#${table} tr`).filter({ hasText: name }).locator('td').allInnerTexts();
    await expect.poll(() => cells('limits', 'Servers')).toEqual(['Servers', '1 of 10']);
    await expect.poll(() => cells('limits', 'CPUs')).toEqual(['CPUs', '1 of 20']);
    await expect.poll(() => cells('limits', 'Memory')).toEqual(['Memory', '2 of 50 GiB']);
    await expect.poll(() => cells('limits', 'Server groups')).toEqual(['Server groups', '0 of 10']);
    await expect.poll(() => cells('usage', projectId)).toEqual([projectId, '0.0', '0.0', '0.0']);
  });

  it('shows what the servers of a host use, and that the host is disabled', async () => {
    const row = await openView('Hosts');
    const { hypervisors } = await send('GET', '/v2.1/os-hypervisors/detail', undefined, '2.87');
    const used = hypervisors.find(({ running_vms: servers }: { running_vms: number }) => servers === 1);
    const host = used?.hypervisor_hostname ?? expect.fail('no host has the server');
    const memory = Math.round(used.memory_mb / 102.4) / 10;
    const usage = ['1', `1 of ${used.vcpus}`, `2 of ${memory} GiB`, `20 of ${used.local_gb} GiB`];
    await expect.poll(() => row(host)).toEqual([host, 'up', ...usage]);
    const { services } = await send('GET', `/v2.1/os-services?binary=nova-compute&host=${host}`, undefined, '2.53');
    await send('PUT', `/v2.1/os-services/${services[0].id}`, { status: 'disabled' }, '2.53');
    await expect.poll(() => row(host)).toEqual([host, 'up disabled', ...usage]);
    await send('DELETE', `/v2.1/servers/${ids.server}`);
    const nothing = ['0', `0 of ${used.vcpus}`, `0 of ${memory} GiB`, `0 of ${used.local_gb} GiB`];
    await expect.poll(() => row(host)).toEqual([host, 'up disabled', ...nothing]);
  });

  it('reports that the server was started without --events, and does not retry', async () => {
    await openView('Events');
    await page.getByText('This server does not store events: start it with --events.').waitFor();
  });

  it('shows the command of a first request, under the name of the client', async () => {
    await openView('About');
    await expect.poll(() => page.locator('#view-about .card-head').allTextContents()).toEqual(['openstack']);
    await expect
      .poll(() => page.locator('#view-about pre').textContent())
      .toBe('openstack --os-cloud apistrata server list');
  });

  it('shows the link to the current view on a phone', async () => {
    const phone = await browser.newPage({ viewport: { width: 360, height: 800 } });
    await logIn(phone, program);
    for (const view of ['about', 'hosts', 'servers', 'usage']) {
      await phone.evaluate(`location.hash = '#${view}'`);
      const link = phone.locator('.views [aria-current]');
      await expect.poll(() => link.getAttribute('data-view')).toBe(view);
      const { x = -1, width = 0 } = (await link.boundingBox()) ?? {};
      expect(x, view).toBeGreaterThanOrEqual(0);
      expect(x + width, view).toBeLessThanOrEqual(360);
    }
    await phone.close();
  });
});
