import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { Accounts } from '../src/accounts.js';
import { createApi } from '../src/api.js';
import { invoicesClient } from '../src/client.js';

let server: Server;
let url: string;
beforeAll(async () => {
  const accounts = new Accounts();
  accounts.add('key', 'Acme');
  server = createServer(createApi({ accounts, validateReplies: true }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe('the typed client', () => {
  it('uses the types of an old version', async () => {
    const client = invoicesClient(url, '2023-11-01', 'key');
    const body = { customer_name: 'Ada', customer_email: 'ada@example.com', amount: 12.5 };
    const created = await client('POST /invoices', { body });
    if (!created.ok) throw new Error(created.error.detail);
    expectTypeOf(created.data.paid).toEqualTypeOf<boolean>();
    // @ts-expect-error: the status exists since 2025-04-10
    expect(created.data.status).toBeUndefined();
    const list = await client('GET /invoices');
    expect(list.ok && list.data.map(({ amount }) => amount)).toEqual([12.5]);
  });

  it('uses the types of the newest version', async () => {
    const client = invoicesClient(url, '2026-06-30', 'key');
    const body = { customer: { name: 'Ada', email: 'ada@example.com' }, amount: 700, currency: 'USD' } as const;
    const created = await client('POST /invoices', { body });
    if (!created.ok) throw new Error(created.error.detail);
    expectTypeOf(created.data.status).toEqualTypeOf<'open' | 'paid' | 'void'>();
    const paid = await client('POST /invoices/{id}/payments', { params: { id: created.data.id } });
    expect(paid.ok && paid.data.status).toBe('paid');
    // @ts-expect-error: removed in 2026-06-30
    const removed = await client('POST /invoices/{id}/pay', { params: { id: created.data.id } });
    expect(removed.status).toBe(404);
  });

  it('has typed errors', async () => {
    const result = await invoicesClient(url, '2026-06-30', 'key')('GET /invoices/{id}', { params: { id: 'in_9' } });
    expect(result).toMatchObject({ ok: false, status: 404, error: { code: 'INVOICE_NOT_FOUND' } });
  });
});
