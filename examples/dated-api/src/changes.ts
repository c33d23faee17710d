import { migrations } from '@apistrata/microversion';
import type { Invoice, NewInvoice } from './invoices.js';

type Page<T> = { readonly data: readonly T[]; readonly next: string | null };

/** The operations that return a single invoice. */
const SINGLE_INVOICE_OPERATIONS = ['createInvoice', 'showInvoice', 'payInvoice', 'createPayment', 'voidInvoice'];

/**
 * Returns conversions for all responses that contain invoices, given a function that converts one invoice. List
 * responses are arrays here, because these conversions run only for versions before 2025-12-01.
 */
function forAllResponses<New, Old>(convert: (invoice: New) => Old) {
  const convertList = (invoices: readonly New[]) => invoices.map(convert);
  return { ...Object.fromEntries(SINGLE_INVOICE_OPERATIONS.map((name) => [name, convert])), listInvoices: convertList };
}

// Earlier invoice formats, newest first. Each type is named after the change that replaced the format.
type Before2025April = Omit<Invoice, 'status' | 'memo'> & { readonly paid: boolean };
type Before2024September = Omit<Before2025April, 'customer'> & {
  readonly customer_name: string;
  readonly customer_email: string;
};

/** All breaking changes to request and response bodies, newest first, with conversions to and from older formats. */
export const changes = migrations([
  {
    version: '2025-12-01',
    summary: 'Lists are paginated: `data` and `next` instead of a plain array.',
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
    summary: '`amount` is an integer in the smallest unit of `currency`, instead of a number of euros.',
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
