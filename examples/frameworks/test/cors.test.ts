import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { browserFlags, browserProgram } from '../../../testing/browser.js';

const example = join(import.meta.dirname, '../src/cors.mjs');
const executablePath = browserProgram();
if (!executablePath) console.warn('\n*** SKIPPED: CORS in a browser: this machine has no Chromium ***\n');

async function originOf(server: Server): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('the page about CORS shows the example of this test', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/cors.md'), 'utf8');
  expect(page.includes(`\`\`\`js\n${readFileSync(example, 'utf8')}\`\`\``)).toBe(true);
});

it.skipIf(!executablePath)('a page of another origin sends and reads the headers of the packages', async () => {
  const pages = await originOf(
    createServer((_req, res) => res.setHeader('Content-Type', 'text/html').end('<title>shop</title>')).listen(
      0,
      '127.0.0.1',
    ),
  );
  process.env.PORT = '0';
  process.env.PAGES = pages;
  const { server } = (await import(/* @vite-ignore */ example)) as { server: Server };
  const api = await originOf(server);

  const browser = await chromium.launch({ executablePath: String(executablePath), headless: true, args: browserFlags });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(pages);
  const create = (headers: Record<string, string>) =>
    page.evaluate(
      async ({ url, sent }) => {
        const response = await fetch(`${url}/notes`, { method: 'POST', headers: sent });
        return { status: response.status, headers: Object.fromEntries(response.headers) };
      },
      { url: api, sent: headers },
    );

  const created = await create({ 'X-Request-Id': 'order-4711', 'API-Version': '2025-03-01' });
  expect(created.status).toBe(201);
  expect(created.headers).toMatchObject({
    'x-request-id': 'order-4711',
    'api-version': '2025-03-01',
    deprecation: '@1769817600',
    sunset: 'Sun, 31 Jan 2027 00:00:00 GMT',
    link: expect.stringContaining('<https://shop.example/upgrade>; rel="sunset"'),
  });
  const rejected = await create({ 'API-Version': '2026-11-22' });
  expect(rejected.status).toBe(403);
  const { 'retry-after': seconds, ratelimit, 'ratelimit-policy': policy } = rejected.headers;
  expect([seconds, ratelimit, policy]).toEqual(['60', '"notes";r=0', '"notes";q=1']);
  // The browser hides other response headers, and rejects requests with other headers.
  expect(created.headers).not.toHaveProperty('x-powered-by');
  await expect(create({ 'X-Other': '1' })).rejects.toThrow('Failed to fetch');
});
