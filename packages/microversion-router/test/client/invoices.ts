import { before, migrations, since, until } from '@apistrata/microversion';
import { object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { field, nestedList, typedOperationsOf, viewOf } from '../../src/index.js';

interface Line {
  readonly text: string;
}

const operation = typedOperationsOf<object>();
const money = object({ cents: z.int(), currency: z.string() });

const lineView = viewOf<Line>()({ text: field(z.string(), ({ text }) => text) });
const reportView = viewOf<{ readonly lines: readonly Line[] }>()({
  count: until(
    '2024-12-31',
    field(z.int(), ({ lines }) => lines.length),
  ),
  lines: since(
    '2025-01-01',
    nestedList(lineView, ({ lines }) => lines),
  ),
});

const invoice = object({
  id: z.string(),
  total: [before('2025-01-01', z.int()), since('2025-01-01', money)],
  note: z.string().optional(),
});

export const operations = [
  operation({
    method: 'POST',
    path: '/invoices',
    summary: 'Create an invoice',
    status: 201,
    errors: [400, 409],
    body: object({ total: [before('2025-01-01', z.int()), since('2025-01-01', money)], note: z.string().optional() }),
    reply: invoice,
    run: ({ body: { total, note } }) => ({ id: '7', total, ...(note !== undefined && { note }) }),
  }),
  operation({
    method: 'GET',
    path: '/invoices/{id}',
    summary: 'Show an invoice',
    status: 200,
    errors: [until('2024-12-31', [404]), since('2025-01-01', [404, 410])],
    reply: invoice,
    run: ({ params }) => {
      if (params.id === '7') return { id: '7', total: { cents: 5, currency: 'EUR' } };
      throw Object.assign(new Error(`no invoice ${params.id}`), { status: 404 });
    },
  }),
  operation({
    method: 'GET',
    path: '/export',
    summary: 'Export',
    window: before('2025-01-01', true),
    status: 200,
    query: query({ from: one(z.string()), to: since('2025-01-01', one(z.string())) }),
    reply: { text: z.string() },
    run: ({ query: { from } }) => ({ text: `from ${from}` }),
  }),
  operation({
    method: 'GET',
    path: '/report',
    summary: 'Report',
    status: 200,
    reply: { report: reportView },
    run: () => ({ report: { lines: [{ text: 'a' }] } }),
  }),
];

type Total = { readonly total: { readonly cents: number } };
const down = ({ total, ...rest }: Total) => ({ ...rest, total: total.cents });

export const history = migrations([
  {
    version: '2025-01-01',
    summary: 'Totals are objects with a currency',
    requests: {
      createInvoice: ({ total, ...rest }: { total: number }) => ({ ...rest, total: { cents: total, currency: 'EUR' } }),
    },
    responses: { createInvoice: down, showInvoice: down },
  },
]);
