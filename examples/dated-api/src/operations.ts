import { before, since } from '@apistrata/microversion';
import { one, query } from '@apistrata/microversion/schema';
import { typedOperationsOf } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { Account } from './accounts.js';
import { invoice, newInvoice } from './schemas.js';

/** The request context that every handler receives. */
export interface RequestContext {
  readonly account: Account;
}

const operation = typedOperationsOf<RequestContext>();
const limit = z.stringFormat('limit', /^([1-9]\d?|100)$/).transform(Number);

/** All API operations. Handlers use only the newest format, because `changes.ts` converts it for older clients. */
export const operations = [
  operation({
    method: 'GET',
    path: '/invoices',
    summary: 'List invoices',
    status: 200,
    errors: [400, 401],
    query: query({ limit: since('2025-12-01', one(limit)), after: since('2025-12-01', one(z.string())) }),
    reply: [
      before('2025-12-01', [invoice] as const),
      since('2025-12-01', { data: [invoice] as const, next: z.string().nullable() }),
    ],
    run: ({ account, query: { limit = 100, after } }) => account.invoices.list({ limit, after }),
  }),
  operation({
    method: 'POST',
    path: '/invoices',
    summary: 'Create an invoice',
    status: 201,
    errors: [400, 401],
    body: newInvoice,
    reply: invoice,
    run: ({ account, body }) => account.invoices.create(body),
  }),
  operation({
    method: 'GET',
    path: '/invoices/{id}',
    summary: 'Show an invoice',
    status: 200,
    errors: [401, 404],
    reply: invoice,
    run: ({ account, params }) => account.invoices.find(params.id),
  }),
  operation({
    method: 'POST',
    path: '/invoices/{id}/payments',
    name: 'createPayment',
    summary: 'Pay an invoice',
    window: since('2025-12-01', true),
    status: 201,
    errors: [401, 404, 409],
    reply: invoice,
    run: ({ account, params }) => account.invoices.settle(params.id, 'paid'),
  }),
  // The fifth breaking change removed this operation, half a year after `/payments` was added to replace it.
  operation({
    method: 'POST',
    path: '/invoices/{id}/pay',
    name: 'payInvoice',
    summary: 'Pay an invoice',
    window: before('2026-06-30', true),
    status: 200,
    errors: [401, 404, 409],
    reply: invoice,
    run: ({ account, params }) => account.invoices.settle(params.id, 'paid'),
  }),
  operation({
    method: 'POST',
    path: '/invoices/{id}/void',
    name: 'voidInvoice',
    summary: 'Void an invoice',
    window: since('2025-04-10', true),
    status: 200,
    errors: [401, 404, 409],
    reply: invoice,
    run: ({ account, params }) => account.invoices.settle(params.id, 'void'),
  }),
];
