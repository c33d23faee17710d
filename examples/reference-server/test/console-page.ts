import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from '../../../testing/eventually.js';

/** A page of the proxy that connects to a serial line, types a command there, and gives what it was answered. */
export async function typeOnLine(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage();
  await page.goto(`${url.replace('ws:', 'http:').split('?')[0]}vnc_lite.html`);
  const answer = await page.evaluate(
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
  return answer;
}

/**
 * Opens a guest's screen, types a command on its keyboard, and waits until the guest has done that and its screen has changed.
 * @param run does something in the guest by another way, and gives what it printed
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
  // Keys get lost where the guest is slower than the hand, so it is tried again.
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
