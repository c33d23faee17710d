import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';

it('the commands of the README run, and are those of this test', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  vi.stubEnv('PORT', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { server } = await import('./readme.example.js');
  if (!server.listening) await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/operations/showServer?version=2.26`;
  const page = await (await fetch(url)).text();
  expect(page).toContain('Show a server');
  expect(page).toMatch(/id="reply\.server\.tags".*since 2\.26/);
  server.close();
  server.closeAllConnections();
});
