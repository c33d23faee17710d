import { migrations } from '@apistrata/microversion';
import type { Invoice, NewInvoice } from './invoices.js';

type Page<T> = { readonly data: readonly T[]; readonly next: string | null };

/** The operations whose response is one invoice. */
const SINGLE = ['createInvoice', 'showInvoice', 'payInvoice', 'createPayment', 'voidInvoice'];

/** Applies a conversion of one invoice to all responses that contain invoices: below 2025-12-01, lists are plain arrays. */
function forAllResponses<New, Old>(convert: (invoice: New) => Old) {
  const list = (invoices: readonly New[]) => invoices.map(convert);
  return { ...Object.fromEntries(SINGLE.map((name) => [name, convert])), listInvoices: list };
}

// The previous forms of invoices, newest first. Each has the fields that the change on its date removed.
type Before2025April = Omit<Invoice, 'status' | 'memo'> & { readonly paid: boolean };
type Before2024September = Omit<Before2025April, 'customer'> & {
  readonly customer_name: string;
  readonly customer_email: string;
};

/** Every breaking change to bodies, newest first: how to convert the previous form. */
export const changes = migrations([
  {
    version: '2025-12-01',
    summary: 'Lists have pages: `data` and `next` instead of a plain array.',
    responses: { listInvoices: ({ data }: Page<Invoice>) => data },
  },
  {
    version: '2025-04-10',
    summary: '`status` replaces `paid`, because an invoice can also be void.',
    responses: forAllResponses(
      ({ status, memo, ...rest }: Invoice): Before2025April => ({ ...rest, paid: status === 'paid' }),
    ),
  },
  {
    version: '2024-09-01',
    summary: '`customer` replaces `customer_name` and `customer_email`.',
    requests: {
      createInvoice: ({ customer_name, customer_email, ...rest }: Before2024September) => ({
        ...rest,
        customer: { name: customer_name, email: customer_email },
      }),
    },
    responses: forAllResponses(
      ({ customer, ...rest }: Before2025April): Before2024September => ({
        ...rest,
        customer_name: customer.name,
        customer_email: customer.email,
      }),
    ),
  },
  {
    version: '2024-03-15',
    summary: '`amount` is an integer of the smallest unit of `currency` instead of a number of euros.',
    requests: {
      createInvoice: ({ amount, ...rest }: Pick<NewInvoice, 'amount'>) => ({
        ...rest,
        amount: Math.round(amount * 100),
        currency: 'EUR',
      }),
    },
    responses: forAllResponses(({ amount, currency, ...rest }: Before2024September) => ({
      ...rest,
      amount: amount / 100,
    })),
  },
]);
