import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserFlags, browserProgram } from '../../../../../testing/browser.js';
import { CONDITION_TIMEOUT_MS } from '../../../../../testing/condition-timeout.js';
import { startCloud, type TestCloud } from '../../../src/index.js';
import { DashboardSite, hasDashboard } from './dashboard-site.js';

const executablePath = browserProgram();
const installed = executablePath !== undefined && hasDashboard();
if (!installed) console.warn('\n*** SKIPPED: this machine has no openstack-dashboard, or no Chromium for it ***\n');

/** Every page of an administrator's menu, and its expected content in a new cloud. */
const PAGES: readonly (readonly [path: string, shows?: string])[] = [
  ['settings/', 'User Settings'],
  ['project/', 'Limit Summary'],
  ['project/api_access/', '/compute/v2.1'],
  ['project/instances/'],
  ['project/images/', 'cirros'],
  ['project/key_pairs/'],
  ['project/server_groups/'],
  ['project/volumes/'],
  ['project/snapshots/'],
  ['project/volume_groups/'],
  ['project/vg_snapshots/'],
  ['project/network_topology/'],
  ['project/networks/', 'private-subnet'],
  ['project/routers/'],
  ['project/security_groups/', 'default'],
  ['project/floating_ips/'],
  ['project/trunks/'],
  ['project/network_qos/'],
  ['admin/', 'Usage Summary'],
  ['admin/hypervisors/', 'Hypervisor Summary'],
  ['admin/aggregates/', 'Availability Zones'],
  ['admin/instances/'],
  ['admin/flavors/', 'm1.tiny'],
  ['admin/images/', 'cirros'],
  ['admin/volumes/'],
  ['admin/snapshots/'],
  ['admin/volume_types/', '__DEFAULT__'],
  ['admin/volume_groups/'],
  ['admin/group_types/'],
  ['admin/networks/', 'public-subnet'],
  ['admin/routers/'],
  ['admin/floating_ips/'],
  ['admin/trunks/'],
  ['admin/rbac_policies/'],
  ['admin/defaults/', 'Compute Quotas'],
  ['admin/metadata_defs/'],
  ['admin/info/', 'nova'],
  ['identity/', 'demo'],
  ['identity/domains/', 'Default'],
  ['identity/users/', 'admin'],
  ['identity/groups/'],
  ['identity/roles/', 'member'],
  ['identity/application_credentials/'],
];

describe.skipIf(!installed)('the dashboard', { timeout: 300_000 }, () => {
  let cloud: TestCloud;
  let site: DashboardSite;
  let browser: Browser;
  let page: Page;
  const errors: unknown[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    cloud = await startCloud({ onError: (error) => errors.push(error) });
    site = await DashboardSite.start(cloud.env.OS_AUTH_URL);
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    page.setDefaultTimeout(CONDITION_TIMEOUT_MS);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await cloud?.stop();
  });
  afterEach(async () => {
    // The page contains an error if the dashboard does not understand the response of a service.
    await expect.poll(() => page.locator('.alert-danger, .alert-warning').allInnerTexts()).toEqual([]);
    expect(problems.splice(0)).toEqual([]);
    expect(site.failures).toEqual([]);
  });

  const open = (path: string) => page.goto(`${site.url}/${path}`, { waitUntil: 'networkidle' });
  const row = (text: string): Locator => page.locator('tbody tr', { hasText: text });
  const shown = (part: string, text: string) => page.locator(part).getByText(text).locator('visible=true').first();
  const linkIn = async (text: string): Promise<string> =>
    (await row(text).getByRole('link', { name: text }).getAttribute('href')) ?? '';
  const dialog = () => page.locator('.modal-dialog');
  const submit = () => page.locator('form [type=submit].btn-primary').click();

  /** Reloads the page until the cloud has completed its background work. */
  async function until(path: string, holds: () => Promise<boolean>): Promise<void> {
    await expect
      .poll(async () => {
        await cloud.idle();
        await open(path);
        return holds();
      })
      .toBe(true);
  }

  it('logs in', async () => {
    await open('auth/login/');
    await page.fill('#id_username', cloud.env.OS_USERNAME);
    await page.fill('#id_password', cloud.env.OS_PASSWORD);
    await page.click('#loginBtn');
    await page.waitForURL('**/project/');
    await expect.poll(() => page.title()).toContain('Instance Overview');
  });

  for (const [path, shows] of PAGES)
    it(`shows /${path}`, async () => {
      const result = await open(path);
      expect(result?.status()).toBe(200);
      // Some pages remove the trailing slash; the login page does not.
      expect(`${new URL(page.url()).pathname}/`.replace('//', '/')).toBe(`/${path}`);
      if (shows) await shown('#content_body', shows).waitFor();
    });

  it('creates a network with a subnet, and shows it', async () => {
    await open('project/networks/create');
    await page.fill('#id_net_name', 'office');
    await page.click('.button-next');
    await page.fill('#id_subnet_name', 'desks');
    await page.fill('#id_cidr', '10.44.0.0/24');
    await page.click('.button-next');
    await page.click('.button-final');
    await page.waitForURL('**/project/networks/');
    await row('office').getByText('10.44.0.0/24').waitFor();
    await row('office').getByRole('link', { name: 'office' }).click();
    await page.getByText('Segmentation ID').first().waitFor();
  });

  it('creates a router', async () => {
    await open('project/routers/create/');
    await page.fill('#id_name', 'edge');
    await submit();
    await page.waitForURL('**/project/routers/');
    await row('edge').getByText('Active').waitFor();
  });

  it('creates a security group with a rule', async () => {
    await open('project/security_groups/create/');
    await page.fill('#id_name', 'web');
    await submit();
    await page.waitForURL(/security_groups\/[0-9a-f-]{36}\/$/);
    await open(`${new URL(page.url()).pathname.slice(1)}add_rule/`);
    await page.fill('#id_port', '443');
    await submit();
    await row('443').waitFor();
  });

  it('allocates a floating address', async () => {
    await open('project/floating_ips/allocate/');
    await submit();
    await page.waitForURL('**/project/floating_ips/');
    await row('203.0.113.').waitFor();
  });

  it('creates a key pair', async () => {
    await open('project/key_pairs/');
    await page.getByRole('button', { name: 'Create Key Pair' }).click();
    await dialog().locator('input[name=name]').fill('deploy');
    await dialog().locator('select').first().selectOption({ label: 'SSH Key' });
    await dialog().locator('button.btn-primary').last().click();
    await open('project/key_pairs/');
    await row('deploy').first().waitFor();
  });

  it('creates a volume, a snapshot of it, and shows both', async () => {
    await open('project/volumes/create/');
    await page.fill('#id_name', 'disk');
    await submit();
    await until('project/volumes/', () => row('disk').getByText('Available').isVisible());
    const href = await linkIn('disk');
    await open(href.slice(1));
    await page.getByText('__DEFAULT__').first().waitFor();
    await open(`${href.slice(1)}create_snapshot/`);
    await page.fill('#id_name', 'kept');
    await submit();
    await until('project/snapshots/', () => row('kept').getByText('Available').isVisible());
  });

  it('launches an instance, and shows it with its log and its actions', async () => {
    await open('project/instances/');
    await page.click('#instances__action_launch-ng');
    await dialog().locator('input[name=name]').fill('from-browser');
    const step = (name: string) => dialog().locator('.nav-item', { hasText: name }).first().click();
    const choose = (item: string) =>
      dialog().locator('tr:visible', { hasText: item }).locator('button .fa-arrow-up, .fa-arrow-up').first().click();
    await step('Source');
    // Boots from the image itself, not from a volume with its content.
    await dialog().getByText('No', { exact: true }).locator('visible=true').first().click();
    await choose('cirros');
    await step('Flavor');
    await choose('m1.tiny');
    await step('Networks');
    await choose('office');
    await dialog().getByRole('button', { name: 'Launch Instance' }).click();
    await dialog().waitFor({ state: 'hidden' });
    await until('project/instances/', () => row('from-browser').getByText('Active', { exact: true }).isVisible());

    const href = await linkIn('from-browser');
    for (const [tab, shows] of [
      // The dashboard itself finds no flavor here: it requests 2.60, where servers do not contain the id of the flavor.
      ['overview', '10.44.0.'],
      ['interfaces', '10.44.0.'],
      ['log', 'Instance Console Log'],
      ['audit', 'create'],
    ] as const) {
      await open(`${href.slice(1)}?tab=instance_details__${tab}`);
      await shown(`#instance_details__${tab}`, shows).waitFor();
    }
    await open('project/network_topology/');
  });

  it('logs out', async () => {
    await open('auth/logout/');
    await page.waitForURL('**/auth/login/**');
  });

  it('sent no unhandled requests, and caused no errors in the cloud', () => {
    expect(cloud.unhandled()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
