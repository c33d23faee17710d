import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const src = join(import.meta.dirname, '../src/router');
const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/frameworks.md'), 'utf8');
const isOnPage = (file: string) => page.includes(`\`\`\`js\n${readFileSync(join(src, file), 'utf8')}\`\`\``);

it('the page shows the operations of the examples', () => {
  expect(isOnPage('api.mjs')).toBe(true);
});

describe.each(['express', 'fastify', 'koa', 'hono', 'nest'])('operations in the example %s', (name) => {
  it('are identical to the code on the page', () => {
    expect(isOnPage(`${name}.mjs`)).toBe(true);
  });

  it('are served next to the routes of the framework, at each version', async () => {
    process.env.PORT = '0';
    const { server } = (await import(/* @vite-ignore */ join(src, `${name}.mjs`))) as { server: Server };
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = async (path: string, version: string, body?: object) => {
      const headers = { connection: 'close', 'content-type': 'application/json', 'API-Version': version };
      const response = await fetch(url + path, {
        method: 'GET',
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return [response.status, response.headers.get('content-type')?.split(';')[0], await response.text()];
    };
    const text = `written in ${name}`;
    const json = 'application/json';

    expect((await send('/hello', '2025-03-01')).at(-1)).toBe('hello');
    expect(await send('/notes', '2025-03-01', { text })).toEqual([200, json, JSON.stringify({ text })]);
    expect((await send('/notes', '2026-11-22', { text, color: 'red' }))[0]).toBe(201);
    const [status, type, problem] = await send('/notes', '2025-03-01', { text, color: 'red' });
    expect([status, type, JSON.parse(String(problem)).code]).toEqual([400, 'application/problem+json', 'INVALID_BODY']);
    expect((await send('/notes', '2020-01-01'))[0]).toBe(406);
    expect((await send('/notes/7', '2025-03-01'))[0]).toBe(404);
    const listed = await send('/notes', '2025-03-01');
    expect(JSON.parse(String(listed[2])).texts.slice(-2)).toEqual([text, text]);
  });
});
