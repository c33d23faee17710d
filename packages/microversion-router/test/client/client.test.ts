import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { versioning } from '@apistrata/microversion';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { createClient, type ErrorStatus, type UndocumentedStatus } from '../../src/client/index.js';
import { createRouter } from '../../src/index.js';
import { history, operations } from './invoices.js';

const { negotiate } = versioning({ versions: ['2024-01-01', '2025-01-01'] });
const router = createRouter({ operations, call: () => ({}), negotiate, migrations: history, validateReplies: true });

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer(router);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

type Api = typeof operations;
const oldClient = () => createClient<Api, '2024-01-01'>(url, { version: '2024-01-01' });
const newClient = () => createClient<Api, '2025-01-01'>(url, { version: '2025-01-01' });

describe('a client of one version', () => {
  it('sends and receives the form of the old version', async () => {
    const created = await oldClient()('POST /invoices', { body: { total: 5, note: 'x' } });
    if (!created.ok) throw new Error('rejected');
    expectTypeOf(created.data).toEqualTypeOf<{
      readonly id: string;
      readonly total: number;
      readonly note?: string | undefined;
    }>();
    expect([created.status, created.data]).toEqual([201, { id: '7', total: 5, note: 'x' }]);
  });

  it('sends and receives the form of the new version', async () => {
    const total = { cents: 5, currency: 'EUR' };
    const created = await newClient()('POST /invoices', { body: { total } });
    if (!created.ok) throw new Error('rejected');
    expectTypeOf(created.data.total).toEqualTypeOf<{ readonly cents: number; readonly currency: string }>();
    expect(created.data).toEqual({ id: '7', total });
  });

  it('has the operations and parameters of its version', async () => {
    const exported = await oldClient()('GET /export', { query: { from: 'a&b' } });
    expect(exported).toMatchObject({ ok: true, data: { text: 'from a&b' } });
    // @ts-expect-error: the parameter is newer
    await oldClient()('GET /export', { query: { to: 'x' } });
    // @ts-expect-error: the operation was removed
    const removed = await newClient()('GET /export');
    expect(removed).toMatchObject({ ok: false, status: 404, error: { code: 'NOT_IN_VERSION' } });
  });

  it('has the views of its version', async () => {
    const [first, second] = [await oldClient()('GET /report'), await newClient()('GET /report')];
    if (!first.ok || !second.ok) throw new Error('rejected');
    expectTypeOf(first.data).toEqualTypeOf<{ readonly report: { readonly count: number } }>();
    expectTypeOf(second.data).toEqualTypeOf<{
      readonly report: { readonly lines: readonly { readonly text: string }[] };
    }>();
    expect([first.data.report, second.data.report]).toEqual([{ count: 1 }, { lines: [{ text: 'a' }] }]);
  });

  it('has the error statuses that the operation documents at its version, and others that proxies may send', async () => {
    type Shown = 'GET /invoices/{id}';
    expectTypeOf<ErrorStatus<Api, '2024-01-01', Shown>>().toEqualTypeOf<404>();
    expectTypeOf<ErrorStatus<Api, '2025-01-01', Shown>>().toEqualTypeOf<404 | 410>();
    expectTypeOf<ErrorStatus<Api, '2025-01-01', 'POST /invoices'>>().toEqualTypeOf<400 | 409>();
    expectTypeOf<ErrorStatus<Api, '2025-01-01', 'GET /report'>>().toBeNever();
    const old = await oldClient()('GET /invoices/{id}', { params: { id: 'a/b' } });
    const missing = await newClient()('GET /invoices/{id}', { params: { id: 'a/b' } });
    if (missing.ok || old.ok) throw new Error('found');
    expectTypeOf(old.status).toEqualTypeOf<404 | UndocumentedStatus>();
    expectTypeOf(missing.status).toEqualTypeOf<404 | 410 | UndocumentedStatus>();
    // @ts-expect-error: 409 is not documented for this operation
    const texts: Readonly<Record<ErrorStatus<Api, '2025-01-01', Shown>, string>> = { 404: 'a', 410: 'b', 409: 'c' };
    expect(texts[404]).toBe('a');
    expect([missing.status, missing.error.detail]).toEqual([404, 'no invoice a/b']);
  });

  it('does not compile with parts that are missing or of another version', () => {
    const calls = () => [
      // @ts-expect-error: the path has a parameter
      newClient()('GET /invoices/{id}'),
      // @ts-expect-error: the total is an object
      newClient()('POST /invoices', { body: { total: 5 } }),
      // @ts-expect-error: the total is a number
      oldClient()('POST /invoices', { body: { total: { cents: 5, currency: 'EUR' } } }),
      // @ts-expect-error: a different version than that of the types
      createClient<Api, '2024-01-01'>(url, { version: '2025-01-01' }),
    ];
    expect(calls).toBeTypeOf('function');
  });

  it('sends custom headers, and reports responses that are not JSON', async () => {
    const seen: Headers[] = [];
    const client = createClient<Api, '2025-01-01'>('https://api.example.com', {
      version: '2025-01-01',
      versionHeaders: (version) => ({ 'Acme-Version': version }),
      headers: async () => ({ authorization: 'Bearer t' }),
      fetch: async (_url, init) => {
        seen.push(new Headers(init?.headers));
        return new Response('bad gateway', { status: 502, headers: { 'content-type': 'text/html' } });
      },
    });
    const result = await client('GET /report', { headers: { 'x-a': 'b' } });
    expect(result).toMatchObject({ ok: false, status: 502, error: { status: 502, detail: 'bad gateway' } });
    expect(['acme-version', 'authorization', 'x-a', 'api-version'].map((name) => seen[0]?.get(name))).toEqual([
      '2025-01-01',
      'Bearer t',
      'b',
      null,
    ]);
  });

  it('returns the text of an error response with malformed JSON, and rejects for a successful one', async () => {
    const clientOf = (status: number) =>
      createClient<Api, '2025-01-01'>('https://api.example.com', {
        version: '2025-01-01',
        fetch: async () => new Response('{"detail":', { status, headers: { 'content-type': 'application/json' } }),
      });
    expect(await clientOf(502)('GET /report')).toMatchObject({
      ok: false,
      status: 502,
      error: { status: 502, detail: '{"detail":' },
    });
    await expect(clientOf(200)('GET /report')).rejects.toThrow(SyntaxError);
  });
});
