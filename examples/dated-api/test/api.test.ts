import type express from 'express';
import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../src/accounts.js';
import { createApi } from '../src/api.js';
import { changes } from '../src/changes.js';
import { versions } from '../src/versions.js';

const dates = versions.map(({ version }) => String(version));
let app: express.Express;
let today: string;

beforeEach(() => {
  today = '2026-11-22';
  const accounts = new Accounts();
  accounts.add('old', 'Acme', '2023-11-01');
  accounts.add('new', 'Globex');
  app = createApi({ accounts, now: () => Date.parse(today), validateReplies: true });
});

function send(method: 'get' | 'post', path: string, version?: string, key = 'old') {
  const sent = request(app)[method](path).set('Authorization', `Bearer ${key}`);
  return version === undefined ? sent : sent.set('Invoices-Version', version);
}

const newest = { customer: { name: 'Ada', email: 'ada@example.com' }, amount: 1250, currency: 'EUR', memo: 'thanks' };
const { memo: _, ...withoutMemo } = newest;
const flat = { customer_name: 'Ada', customer_email: 'ada@example.com' };

/** By version, the body of a create request, and the open invoice that the response contains. */
const forms: Readonly<Record<string, { readonly body: object; readonly shown: object }>> = {
  '2023-11-01': { body: { ...flat, amount: 12.5 }, shown: { ...flat, amount: 12.5, paid: false } },
  '2024-03-15': {
    body: { ...flat, amount: 1250, currency: 'EUR' },
    shown: { ...flat, amount: 1250, currency: 'EUR', paid: false },
  },
  '2024-09-01': { body: withoutMemo, shown: { ...withoutMemo, paid: false } },
  '2025-04-10': { body: newest, shown: { ...newest, status: 'open' } },
  '2025-12-01': { body: newest, shown: { ...newest, status: 'open' } },
  '2026-06-30': { body: newest, shown: { ...newest, status: 'open' } },
};

describe.each(dates)('a client of %s', (version) => {
  const { body, shown } = forms[version] ?? {};

  it('writes and reads invoices in the format of its version', async () => {
    const created = await send('post', '/invoices', version).send(body).expect(201);
    expect(created.body).toEqual({ id: 'in_1', ...shown });
    expect(created.headers['invoices-version']).toBe(version);
    const { body: list } = await send('get', '/invoices', version).expect(200);
    expect(version < '2025-12-01' ? list : list.data).toEqual([{ id: 'in_1', ...shown }]);
  });

  it('reads what a client of the newest version wrote', async () => {
    await send('post', '/invoices', '2026-06-30').send(newest).expect(201);
    const { body: read } = await send('get', '/invoices/in_1', version).expect(200);
    expect(read).toEqual({ id: 'in_1', ...shown });
  });

  it('has its own OpenAPI document and documentation page', async () => {
    const { body: document } = await request(app).get(`/docs/openapi.json?version=${version}`).expect(200);
    expect(document.info.version).toBe(version);
    expect(Object.keys(document.paths)).toContain('/invoices');
    expect((await request(app).get(`/docs/versions/${version}`).expect(200)).text).toContain(version);
  });
});

describe('an account', () => {
  it('is served at its pinned version, unless a request specifies another', async () => {
    expect((await send('get', '/invoices')).headers['invoices-version']).toBe('2023-11-01');
    expect((await send('get', '/invoices', undefined, 'new')).headers['invoices-version']).toBe('2026-06-30');
    expect((await send('get', '/invoices?version=2025-04-10')).headers['invoices-version']).toBe('2025-04-10');
  });

  it('needs a key', async () => {
    const { body, headers } = await request(app).get('/invoices').expect(401);
    expect([body.code, headers['content-type']]).toEqual(['UNAUTHORIZED', 'application/problem+json']);
  });

  it('cannot use a version that does not exist', async () => {
    const { body } = await send('get', '/invoices', '2025-01-01').expect(406);
    expect(body).toMatchObject({ code: 'UNACCEPTABLE_VERSION', versions: dates });
  });
});

describe('the five breaking changes', () => {
  it('are listed on the Versions page', async () => {
    expect(changes.changes.map(({ version }) => version.text)).toEqual(dates.slice(1, 5));
    const { text } = await request(app).get('/docs/versions').expect(200);
    for (const { summary } of changes.changes) expect(text).toContain(summary.split('`').at(-1)?.trim());
  });

  it('replace one operation with another', async () => {
    await send('post', '/invoices', '2026-06-30').send(newest).expect(201);
    await send('post', '/invoices/in_1/pay', '2026-06-30').expect(404);
    await send('post', '/invoices/in_1/payments', '2025-04-10').expect(404);
    const paid = await send('post', '/invoices/in_1/pay', '2025-12-01').expect(200);
    expect([paid.body.status, paid.headers.deprecation]).toEqual(['paid', '@1782777600']);
    const { body } = await send('post', '/invoices/in_1/payments', '2026-06-30').expect(409);
    expect(body).toMatchObject({ code: 'INVOICE_NOT_OPEN', detail: 'The invoice in_1 is paid.' });
  });

  it('are reported as breaking when two versions are compared', async () => {
    const { body } = await request(app).get('/docs/changes?from=2023-11-01&to=2026-06-30&format=json').expect(200);
    const breaking = body.changes.filter((change: { breaking: boolean }) => change.breaking);
    expect(breaking.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['listInvoices', 'createInvoice', 'showInvoice', 'payInvoice']),
    );
  });

  it('show a void invoice to old clients as unpaid', async () => {
    await send('post', '/invoices', '2026-06-30').send(newest).expect(201);
    await send('post', '/invoices/in_1/void', '2026-06-30').expect(200);
    expect((await send('get', '/invoices/in_1', '2024-09-01')).body.paid).toBe(false);
  });
});

describe('lists', () => {
  it('are paginated in versions since 2025-12-01', async () => {
    for (let i = 0; i < 3; i += 1) await send('post', '/invoices', '2026-06-30').send(newest).expect(201);
    const first = await send('get', '/invoices?limit=2', '2025-12-01').expect(200);
    expect([first.body.data.length, first.body.next]).toEqual([2, 'in_2']);
    const second = await send('get', '/invoices?limit=2&after=in_2', '2025-12-01').expect(200);
    expect([second.body.data.length, second.body.next]).toEqual([1, null]);
    await send('get', '/invoices?limit=0', '2025-12-01').expect(400);
    const unknown = await send('get', '/invoices?limit=2&after=in_999', '2025-12-01').expect(400);
    expect(unknown.body).toMatchObject({ code: 'INVALID_AFTER', detail: expect.stringContaining('in_999') });
    expect((await send('get', '/invoices?limit=2', '2024-09-01')).body).toHaveLength(3);
  });
});

describe('the end of the oldest version', () => {
  it('is announced in each response', async () => {
    const { headers } = await send('get', '/invoices');
    expect([headers.deprecation, headers.sunset, headers.link]).toEqual([
      '@1764547200',
      'Sun, 31 Jan 2027 00:00:00 GMT',
      expect.stringContaining('<https://example.com/guides/upgrading>; rel="deprecation"'),
    ]);
    expect((await send('get', '/invoices', undefined, 'new')).headers.deprecation).toBeUndefined();
  });

  it.each([
    ['2027-01-12T09:30:00Z', 410],
    ['2027-01-12T10:00:00Z', 200],
    ['2027-01-31T00:00:00Z', 410],
  ])('takes effect: at %s the status is %s', async (time, status) => {
    today = time;
    await send('get', '/invoices').expect(status);
    await send('get', '/invoices', '2026-06-30').expect(200);
  });

  it('can be planned with a report of the clients of each version', async () => {
    await send('get', '/invoices');
    await send('get', '/invoices', undefined, 'new');
    const { body } = await request(app).get('/usage').expect(200);
    expect(body).toMatchObject([
      { version: '2023-11-01', requests: 1, withoutVersion: 1, clients: [{ client: 'Acme' }] },
      { version: '2026-06-30', requests: 1, withoutVersion: 1, clients: [{ client: 'Globex' }] },
    ]);
  });
});
