import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { ada, QemuCloud } from '../../../../packages/qemu/test/qemu-cloud.js';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { type ConsoleProxy, createConsoleProxy } from '../../src/consoles/console-proxy.js';
import { typeOnLine, typeOnScreen, typeText } from '../console-page.js';

const executablePath = browserProgram();
const missing = missingForGuests() ?? (executablePath ? undefined : 'chromium');
if (missing) console.warn(`\n*** SKIPPED: consoles of virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('consoles of virtual machines', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let proxy: ConsoleProxy;
  let browser: Browser;
  let id: string;
  const failures: unknown[] = [];

  beforeAll(async () => {
    proxy = createConsoleProxy(
      () => cloud.engine,
      (error) => failures.push(error),
    );
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    const consoleProxyUrl = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}`;
    cloud = await QemuCloud.open({}, { settings: { consoleProxyUrl } });
    browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    id = (await cloud.create({ name: 'guest' })).id;
    await cloud.console(id, /GUEST ready/);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await cloud?.close();
    expect(failures).toEqual([]);
  });

  const address = async (type: string) =>
    cloud.engine.consoles.open(ada, await cloud.engine.servers.get(ada, id), type);

  it('carry a serial line: the guest responds to input in a browser', async () => {
    const url = await address('serial');
    expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/\?token=/);
    expect(await typeOnLine(browser, url)).toContain('42 times');
  });

  it('show a serial line as a terminal: input reaches the guest, and its output is visible', async () => {
    await typeText(browser, await address('serial'));
  });

  it('show the screen: input reaches the guest, and its output is visible', async () => {
    const line = await cloud.line(id);
    await typeOnScreen(browser, await address('novnc'), (command) => line.run(command));
  });

  it('do not open without a token, nor for pages of other sites', async () => {
    const url = await address('serial');
    const outcome = (target: string, options: { origin?: string } = {}) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(target, options);
        socket.on('error', () => {});
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_req, res) => resolve(res.statusCode!));
      });
    expect(await outcome(url.replace(/token=.*/, 'token=nonsense'))).toBe(401);
    expect(await outcome(url.replace(/\?.*/, ''))).toBe(401);
    expect(await outcome(url, { origin: 'https://elsewhere.example' })).toBe(403);
  });

  it('have one viewer: the next one takes over the serial console, which closes with the server', async () => {
    const opened = async () => {
      const socket = new WebSocket(await address('serial'));
      await once(socket, 'open');
      return { ended: once(socket, 'close') };
    };
    const first = await opened();
    const second = await opened();
    await first.ended;
    await cloud.engine.servers.delete(ada, id);
    await second.ended;
    await cloud.engine.idle();
    const stale = await address('serial').catch((error: Error) => error.message);
    expect(stale).toMatch(/could not be found/);
  });
});
