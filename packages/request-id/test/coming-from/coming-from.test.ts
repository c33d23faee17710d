import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../../testing/send-request.js';

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
const readme = read('../../README.md');
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

async function serve(file: string) {
  const { app } = (await import(/* @vite-ignore */ join(import.meta.dirname, file))) as {
    readonly app: RequestListener;
  };
  return async (path: string, headers: Record<string, string> = {}) => {
    const response = await sendRequest(app, { path, headers });
    return { id: JSON.parse(response.body).id as string, headers: response.headers };
  };
}

describe.each(['old.example.mjs', 'new.example.mjs'])('an express-request-id app: %s', (file) => {
  it('is in the README as this test runs it', () => {
    expect(readme).toContain(`\`\`\`js\n${read(file)}\`\`\``);
  });

  it('keeps the id of the client, or creates a UUID', async () => {
    const get = await serve(file);
    const retained = await get('/', { 'X-Request-Id': 'order-4711' });
    expect([retained.id, retained.headers['x-request-id']]).toEqual(['order-4711', 'order-4711']);
    const created = await get('/');
    expect(created.id).toMatch(UUID);
    expect(created.headers['x-request-id']).toBe(created.id);
  });

  it('uses the header and the generator of its options', async () => {
    const get = await serve(file);
    const traced = await get('/traced');
    expect([traced.id, traced.headers['x-trace']]).toEqual([`trace-${process.pid}`, `trace-${process.pid}`]);
    const silent = await get('/silent', { 'X-Silent': 'quiet' });
    expect([silent.id, silent.headers['x-silent']]).toEqual(['quiet', undefined]);
  });
});

describe('an id that is not safe to log', () => {
  it('is kept before the migration, and replaced afterwards', async () => {
    const unsafe = { 'X-Request-Id': '"><script>' };
    expect((await (await serve('old.example.mjs'))('/', unsafe)).id).toBe('"><script>');
    expect((await (await serve('new.example.mjs'))('/', unsafe)).id).toMatch(UUID);
  });
});
