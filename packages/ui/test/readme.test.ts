import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the README example runs and serves the style page with its assets', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  process.env.PORT = '0';
  const { server } = await import('./readme.example.js');
  if (!server.listening) await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await (await fetch(url)).text();
  expect(page).not.toMatch(/<script>|<style|style="|https?:\/\/(?!127\.0\.0\.1)/);
  for (const name of ['ui.css', 'ui.js', 'icon.svg']) {
    expect(page).toContain(`/assets/${name}`);
    expect((await (await fetch(`${url}/assets/${name}`)).text()).length).toBeGreaterThan(100);
  }
  server.close();
  server.closeAllConnections();
});
