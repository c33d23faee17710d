import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { admin, QemuHosts } from '../../../../packages/qemu/test/qemu-hosts.js';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { type ConsoleProxy, createConsoleProxy } from '../../src/consoles/console-proxy.js';
import { typeOnLine, typeOnScreen } from '../console-page.js';

const postgresUrl = inject('postgresUrl');
const executablePath = browserProgram();
const missing = missingForGuests() ?? (executablePath ? (postgresUrl ? undefined : 'PostgreSQL') : 'chromium');
if (missing) console.warn(`\n*** SKIPPED: consoles of separate hosts: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('one proxy for the consoles of all hosts', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let proxy: ConsoleProxy;
  let browser: Browser;
  let ids: readonly string[];
  const failures: unknown[] = [];

  beforeAll(async () => {
    proxy = createConsoleProxy(
      () => hosts.engine,
      (error) => failures.push(error),
    );
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    const consoleProxyUrl = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}`;
    hosts = await QemuHosts.openWith({ settings: { consoleProxyUrl } }, postgresUrl, 'h1', 'h2');
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    ids = (await Promise.all(['h1', 'h2'].map((host) => hosts.booted(host)))).map(({ id }) => id);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await hosts?.close();
    expect(failures).toEqual([]);
  }, 60_000);

  const address = async (id: string, type: string) => hosts.engine.consoles.open(admin, await hosts.see(id), type);

  it('carries serial lines of guests on different hosts: each responds to input in a browser', async () => {
    for (const id of ids) expect(await typeOnLine(browser, await address(id, 'serial'))).toContain('42 times');
  });

  it('carries screens: input reaches the guest on the other host, and its output is visible', async () => {
    const id = ids[1]!;
    const line = await hosts.line(id);
    await typeOnScreen(browser, await address(id, 'novnc'), (command) => line.run(command));
  });

  it('continues after a restart of a host', async () => {
    await hosts.kill('h2');
    await hosts.start('h2');
    expect(await typeOnLine(browser, await address(ids[1]!, 'serial'))).toContain('42 times');
  });
});
