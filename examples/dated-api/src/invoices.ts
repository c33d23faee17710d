/** An invoice in the newest format, the only one that handlers use. */
export interface Invoice {
  readonly id: string;
  readonly customer: { readonly name: string; readonly email: string };
  /** The amount in the smallest unit of the currency, such as cents. */
  readonly amount: number;
  readonly currency: 'EUR' | 'USD' | 'GBP';
  readonly status: 'open' | 'paid' | 'void';
  readonly memo?: string | undefined;
}

export type NewInvoice = Omit<Invoice, 'id' | 'status'>;

/** Thrown if an invoice does not exist, if `after` is not the id of an invoice, or if an invoice is no longer open. */
export class InvoiceError extends Error {
  constructor(
    readonly status: 400 | 404 | 409,
    readonly code: 'INVALID_AFTER' | 'INVOICE_NOT_FOUND' | 'INVOICE_NOT_OPEN',
    message: string,
  ) {
    super(message);
  }
}

/** The invoices of one account, in memory. */
export class Invoices {
  readonly #byId = new Map<string, Invoice>();

  create(invoice: NewInvoice): Invoice {
    const createdInvoice: Invoice = { id: `in_${this.#byId.size + 1}`, status: 'open', ...invoice };
    this.#byId.set(createdInvoice.id, createdInvoice);
    return createdInvoice;
  }

  /** Returns an invoice. @throws InvoiceError if it does not exist */
  find(id: string): Invoice {
    const invoice = this.#byId.get(id);
    if (!invoice) throw new InvoiceError(404, 'INVOICE_NOT_FOUND', `The invoice ${id} does not exist.`);
    return invoice;
  }

  /**
   * Returns a page of invoices, oldest first, and the `after` parameter of the next page, which is null on the last
   * page.
   * @throws InvoiceError if the invoice `after` does not exist
   */
  list({ limit, after }: { readonly limit: number; readonly after?: string | undefined }) {
    if (after !== undefined && !this.#byId.has(after))
      throw new InvoiceError(
        400,
        'INVALID_AFTER',
        `The invoice ${after} does not exist: \`after\` must be the ID of an invoice.`,
      );
    const allInvoices = [...this.#byId.values()];
    const startIndex = after === undefined ? 0 : allInvoices.findIndex(({ id }) => id === after) + 1;
    const data = allInvoices.slice(startIndex, startIndex + limit);
    return { data, next: startIndex + limit < allInvoices.length ? (data.at(-1)?.id ?? null) : null };
  }

  /** Marks an open invoice as paid or void. @throws InvoiceError if it does not exist or is not open */
  settle(id: string, status: 'paid' | 'void'): Invoice {
    const invoice = this.find(id);
    if (invoice.status !== 'open')
      throw new InvoiceError(409, 'INVOICE_NOT_OPEN', `The invoice ${id} is ${invoice.status}.`);
    const settledInvoice = { ...invoice, status };
    this.#byId.set(id, settledInvoice);
    return settledInvoice;
  }
}
