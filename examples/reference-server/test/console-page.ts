import type { Browser, Keyboard, Locator } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from '../../../testing/eventually.js';

/** Opens a proxy page that connects to a serial line, sends a command, and returns the command's output. */
export async function typeOnLine(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage();
  await page.goto(`${url.replace('ws:', 'http:').split('?')[0]}vnc_lite.html`);
  const response = await page.evaluate(
    (target) =>
      new Promise<string>((resolve, reject) => {
        const socket = new globalThis.WebSocket(target, ['binary']);
        socket.binaryType = 'arraybuffer';
        let text = '';
        socket.onopen = () => socket.send(new TextEncoder().encode('typed echo $((6 * 7)) times\n'));
        socket.onerror = () => reject(new Error('it cannot be reached'));
        socket.onmessage = ({ data }) => {
          text += new TextDecoder().decode(data);
          if (text.includes('typed:0')) resolve(text);
        };
      }),
    url,
  );
  await page.close();
  return response;
}

/** Opens a guest's serial line as a terminal, types a command on the keyboard, and waits for the command's output. */
export async function typeText(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  await page.goto(`${url.replace('ws:', 'http:').replace('/?', '/serial.html?')}`);
  await page.getByRole('status').getByText('Connected').waitFor();
  await typeAndRead(page.locator('main'), page.keyboard);
  expect(wrong).toEqual([]);
  await page.close();
}

/** Types a command in a terminal, and waits for the command's output. */
export async function typeAndRead(terminal: Locator, keyboard: Keyboard): Promise<void> {
  await terminal.click();
  await keyboard.type('typed echo $((6 * 7)) times\n');
  await expect.poll(() => terminal.textContent()).toContain('42 times');
}

/**
 * Opens a guest's screen, types a command on its keyboard, and waits until the guest has executed it and its screen has
 * changed.
 * @param run runs a command in the guest by another channel, and returns its output
 */
export async function typeOnScreen(
  browser: Browser,
  url: string,
  run: (command: string) => Promise<string>,
): Promise<void> {
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(url);
  await page.getByRole('status').getByText('Connected').waitFor();
  const canvas = page.locator('canvas');
  const picture = () => canvas.evaluate((shown) => (shown as unknown as { toDataURL(): string }).toDataURL());
  await run('setsid sh -c "exec sh </dev/tty1 >/dev/tty1 2>&1" &');
  await canvas.click();
  const before = await picture();
  // A slow guest loses key presses, so the command is typed repeatedly.
  await eventually(
    async () => {
      await page.keyboard.type('touch /k\n', { delay: 250 });
      expect(await run('if [ -e /k ]; then echo typed; else echo nothing; fi')).toBe('typed');
    },
    { timeout: 150_000, interval: 500 },
  );
  await eventually(async () => expect(await picture()).not.toBe(before));
  expect(wrong).toEqual([]);
  await page.close();
}
