import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrongOptionRows } from '../../../testing/option-tables.js';
import { sendRequest } from '../../../testing/send-request.js';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

describe('the first example of the README', () => {
  it('is identical to the code that this test runs', () => {
    expect(read('../README.md')).toContain(`\`\`\`ts\n${read('readme-dates.example.ts')}\`\`\``);
  });

  it('responds as the README shows', async () => {
    process.env.PORT = '0';
    const { app, server } = await import('./readme-dates.example.js');
    server.close();
    const get = (version?: string) =>
      sendRequest(app, { path: '/lists', headers: version === undefined ? {} : { 'API-Version': version } });
    expect((await get()).body).toBe('["groceries"]');
    const named = await get('2026-11-22');
    expect([named.headers['api-version'], named.headers.vary, named.body]).toEqual([
      '2026-11-22',
      'API-Version',
      '{"lists":[{"name":"groceries"}]}',
    ]);
    expect(read('../README.md').replaceAll('\n ', '')).toContain((await get('2026-01-01')).body);
  });
});

describe('the complete API of the README', () => {
  it('is identical to the code that this test runs, and has at most 30 lines', () => {
    const example = read('readme.example.ts');
    expect(read('../README.md')).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  it('responds as the README shows', async () => {
    process.env.PORT = '0';
    const { app, server } = await import('./readme.example.js');
    server.close();
    const get = async (path: string, version?: string) => {
      const headers: Record<string, string> = version ? { 'Service-API-Version': `todo ${version}` } : {};
      const response = await sendRequest(app, { path, headers: { Host: 'localhost:3000', ...headers } });
      return [
        response.status,
        response.headers['content-type']?.includes('json') ? JSON.parse(response.body) : response.body,
      ];
    };
    expect(await get('/v1/lists')).toEqual([200, [{ id: 1, name: 'groceries' }]]);
    expect(await get('/v1/lists', '1.5')).toEqual([200, [{ id: 1, name: 'groceries', color: 'green' }]]);
    expect(await get('/v1/lists', 'latest')).toMatchObject([200, { version: '1.12', lists: [{ owner: 'ada' }] }]);
    expect(await get('/v1/export', '1.11')).toEqual([200, 'id,name\n1,groceries\n']);
    expect((await get('/v1/export', '1.12'))[0]).toBe(404);
    expect((await get('/v1/lists', '1.13'))[0]).toBe(406);
    expect((await get('/v1/lists', 'soon'))[0]).toBe(400);
    const self = [{ rel: 'self', href: 'http://localhost:3000/v1/' }];
    expect(await get('/')).toMatchObject([200, { versions: [{ id: 'v1', version: '1.12', links: self }] }]);
    expect(await get('/v1')).toMatchObject([200, { version: { id: 'v1', min_version: '1.1', links: self } }]);
  });
});

it.each([
  ['versioning/versioning.ts', 'VersioningOptions'],
  ['negotiation/microversion.ts', 'MicroversionOptions'],
  ['negotiation/negotiator.ts', 'NegotiatorOptions'],
  ['discovery.ts', 'DiscoveryOptions'],
  ['versioning/usage.ts', 'UsageReportOptions'],
])('the README has the type and default of each option in %s: %s', (file, name) => {
  expect(wrongOptionRows(read('../README.md'), read(`../src/${file}`), name)).toEqual([]);
});
