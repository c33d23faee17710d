import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrongOptionRows } from '../../../testing/option-tables.js';
import { sendRequest } from '../../../testing/send-request.js';

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

it.each([
  ['Options', 'router/router.ts', 'RouterOptions'],
  ['Documents', 'documents/openapi.ts', 'OpenApiOptions'],
  ['Documents', 'documents/api-description.ts', 'ApiDescription'],
  ['Typed client', 'client/create-client.ts', 'ClientOptions'],
])('the section %s of the README has the type and default of each option in %s: %s', (title, file, name) => {
  const sections = read('../README.md').split('\n## ');
  const section = sections.find((text) => text.startsWith(`${title}\n`)) ?? '';
  expect(wrongOptionRows(section, read(`../src/${file}`), name)).toEqual([]);
});
