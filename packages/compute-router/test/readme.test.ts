import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the README contains the tested example', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  process.env.PORT = '0';
  const { server } = await import('./readme.example.js');
  if (!server.listening) await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2.1/flavors`;
  const responded = await fetch(url, {
    headers: { 'X-Auth-Token': 'ada:demo', 'OpenStack-API-Version': 'compute latest' },
  });
  expect(responded.headers.get('openstack-api-version')).toBe('compute 2.100');
  expect(((await responded.json()) as any).flavors).toHaveLength(5);
  server.close();
  server.closeAllConnections();
});
