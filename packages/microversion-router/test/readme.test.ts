import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import type { ClientOptions } from '../src/client/index.js';
import { OPENAPI_OPTIONS } from '../src/documents/openapi.js';
import { ROUTER_OPTIONS } from '../src/router/router.js';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

describe('the first example of the README', () => {
  it('is identical to the code that this test runs', () => {
    expect(read('../README.md')).toContain(`\`\`\`ts\n${read('readme.example.ts')}\`\`\``);
  });

  it('responds as the README shows', async () => {
    process.env.PORT = '0';
    const { document, router, server } = await import('./readme.example.js');
    server.close();
    const headersOf = (version: string) => ({ 'API-Version': version, 'Content-Type': 'application/json' });
    const add = async (version: string, todo: object) => {
      const request = { method: 'POST', path: '/todos', headers: headersOf(version), body: JSON.stringify(todo) };
      const { status, body } = await sendRequest(router, request);
      return { status, body };
    };
    const responses = [
      await add('2025-03-01', { text: 'milk' }),
      await add('2026-11-22', { text: 'bread', color: 'red' }),
      await add('2025-03-01', { text: 'salt', color: 'red' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 201, 400]);
    const readme = read('../README.md').replaceAll('\n ', '');
    for (const { body } of responses) expect(readme).toContain(body);
    expect(readme).toContain((await sendRequest(router, { path: '/todos', headers: headersOf('2026-11-22') })).body);
    expect(Object.keys(document.paths as object)).toEqual(['/todos']);
  });
});

const CLIENT_OPTIONS: Readonly<Record<keyof ClientOptions<string>, true>> = {
  version: true,
  versionHeaders: true,
  headers: true,
  fetch: true,
};

it('the README has a row for every option', () => {
  const sections = read('../README.md').split('\n## ');
  const missing = Object.entries({
    Options: ROUTER_OPTIONS,
    Documents: OPENAPI_OPTIONS,
    'Typed client': CLIENT_OPTIONS,
  }).flatMap(([title, options]) => {
    const section = sections.find((text) => text.startsWith(`${title}\n`));
    return Object.keys(options).filter((name) => !section?.includes(`| \`${name}\` |`));
  });
  expect(missing).toEqual([]);
});
