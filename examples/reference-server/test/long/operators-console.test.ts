import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBootDisk, missingForBootLoaders } from '../../../../packages/qemu/test/guest/boot-disk.js';
import { buildGuest } from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { browserFlags, browserProgram } from '../../../../testing/browser.js';
import { typeAndRead } from '../console-page.js';
import { logIn } from '../log-in.js';
import { type Program, startProgram } from '../program.js';

const executablePath = browserProgram();
const missing = missingForBootLoaders() ?? (executablePath ? undefined : 'chromium');
if (missing) console.warn(`\n*** SKIPPED: real machines on the operators’ page: this machine has no ${missing} ***\n`);

const VARIANTS = [
  ['without authentication', [], (page: Page, { url }: Program) => page.goto(url)],
  ['with --cloud', ['--cloud'], logIn],
] as const;

describe.skipIf(missing).each(VARIANTS)(
  'the operators’ page %s, with real machines',
  { timeout: 600_000 },
  (_name, options, open) => {
    const folder = machineDirectory();
    let program: Program;
    let browser: Browser;

    beforeAll(async () => {
      const disk = buildBootDisk(folder, buildGuest(folder));
      const machines = ['--driver', 'qemu', '--machine-dir', join(folder, 'qemu'), '--acceleration', 'tcg'];
      const more = ['--image', `guest=${disk}`, '--console-port', '0', '--log-level', 'error'];
      program = await startProgram(['--db', ':memory:', ...machines, ...more, ...options]);
      browser = await chromium.launch({ executablePath, headless: true, args: browserFlags });
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await program?.end('SIGTERM');
      // Machines continue to run after the program ends, so a failed test must remove its machines.
      for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('shows the output, the serial line and the screen of a server that was created there', async () => {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        const { url } = message.location();
        if (message.type() === 'error') problems.push(`${message.text()} ${url}`);
      });
      page.setDefaultTimeout(300_000);
      await open(page, program);
      await page.getByLabel('Name').fill('guest');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.locator('#servers').getByText('active', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'guest', exact: true }).click();
      await page.locator('.log', { hasText: 'GUEST ready' }).waitFor();

      await page.getByRole('button', { name: 'Serial line' }).click();
      const shown = page.frameLocator('.console iframe');
      await shown.getByRole('status').getByText('Connected').waitFor();
      await typeAndRead(shown.locator('main'), page.keyboard);

      await page.getByRole('button', { name: 'Screen' }).click();
      await shown.locator('canvas').waitFor();
      await shown.getByRole('status').getByText('Connected').waitFor();
      if (process.env.OPERATORS_SCREENSHOT) await page.screenshot({ path: process.env.OPERATORS_SCREENSHOT });

      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete permanently?' }).click();
      await page.locator('#servers').getByText('No servers yet').waitFor();
      // Without --events, there is no event stream. Requests in flight when the server is deleted also return 404.
      expect(problems.filter((problem) => !/404/.test(problem))).toEqual([]);
    });
  },
);
