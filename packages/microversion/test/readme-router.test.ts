import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the README shows the API that this test runs', async () => {
  const code = readFileSync(join(import.meta.dirname, 'readme-router.example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  process.env.PORT = '0';
  const { document, server } = await import('./readme-router.example.js');
  if (!server.listening) await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/todos`;
  const add = async (version: string, todo: object) => {
    const headers = { 'Content-Type': 'application/json', 'Service-API-Version': `todo ${version}` };
    const responded = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ todo }) });
    return [responded.status, await responded.json()];
  };
  expect(await add('1.2', { text: 'a' })).toEqual([200, { todo: { id: 1, text: 'a' } }]);
  expect(await add('1.5', { text: 'b' })).toEqual([201, { todo: { id: 2, text: 'b', color: 'green' } }]);
  expect((await add('1.4', { text: 'c', color: 'red' }))[0]).toBe(400);
  expect(Object.keys((document as any).paths)).toEqual(['/todos']);
  server.close();
  server.closeAllConnections();
});
