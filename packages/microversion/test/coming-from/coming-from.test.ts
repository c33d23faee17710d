import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../../testing/send-request.js';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const readme = read('../../README.md');

async function serve(name: string): Promise<(version?: string) => Promise<readonly [number, unknown]>> {
  const { app } = (await import(/* @vite-ignore */ join(import.meta.dirname, name))) as {
    readonly app: RequestListener;
  };
  return async (version) => {
    const headers: Record<string, string> = version === undefined ? {} : { 'X-Api-Version': version };
    const { status, body } = await sendRequest(app, { path: '/lists', headers });
    return [status, status === 200 ? JSON.parse(body) : undefined];
  };
}

const first = [200, ['groceries']];
const second = [200, { lists: ['groceries'] }];

describe('an express-version-route app', () => {
  it.each(['old.example.mjs', 'new.example.mjs'])('is in the README exactly as this test runs it: %s', (name) => {
    expect(readme).toContain(`\`\`\`js\n${read(name)}\`\`\``);
  });

  it.each(['old.example.mjs', 'new.example.mjs'])('responds the same before and after: %s', async (name) => {
    const get = await serve(name);
    expect([await get('1.0.0'), await get('1.4.0'), await get('2.0.0'), await get()]).toEqual([
      first,
      first,
      second,
      first,
    ]);
  });

  it('serves the default for invalid and unknown versions before the migration, and rejects them afterwards', async () => {
    const [old, current] = [await serve('old.example.mjs'), await serve('new.example.mjs')];
    expect([await old('soon'), await old('3.0.0'), await old('0.1.0')]).toEqual([first, second, first]);
    const statuses = [await current('soon'), await current('3.0.0'), await current('0.1.0')].map(([status]) => status);
    expect(statuses).toEqual([400, 406, 406]);
  });

  it('accepts ranges after the migration, instead of serving the default', async () => {
    const [old, current] = [await serve('old.example.mjs'), await serve('new.example.mjs')];
    expect([await old('^1.0.0'), await old('2'), await current('^1.0.0'), await current('2')]).toEqual([
      first,
      first,
      first,
      second,
    ]);
  });

  it('adds the version and Vary to the response only after the migration', async () => {
    const headersOf = async (name: string) => {
      const { app } = (await import(/* @vite-ignore */ join(import.meta.dirname, name))) as {
        readonly app: RequestListener;
      };
      const { headers } = await sendRequest(app, { path: '/lists', headers: { 'X-Api-Version': '2.0.0' } });
      return [headers['x-api-version'], headers.vary];
    };
    expect(await headersOf('old.example.mjs')).toEqual([undefined, undefined]);
    expect(await headersOf('new.example.mjs')).toEqual(['2.0.0', 'X-Api-Version']);
  });
});
