import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../testing/ask.js';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

describe('the complete API of the README', () => {
  it('is the one that is run here, and has at most 30 lines', () => {
    const example = read('readme.example.ts');
    expect(read('../README.md')).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  it('answers as the README says', async () => {
    process.env.PORT = '0';
    const { app, server } = await import('./readme.example.js');
    server.close();
    const get = async (path: string, version?: string) => {
      const headers: Record<string, string> = version ? { 'Service-API-Version': `todo ${version}` } : {};
      const answer = await ask(app, { path, headers: { Host: 'localhost:3000', ...headers } });
      return [answer.status, answer.headers['content-type']?.includes('json') ? JSON.parse(answer.body) : answer.body];
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
