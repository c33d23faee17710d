import { before, since } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';

const customer = z.strictObject({ name: z.string().min(1), email: z.email() });

/**
 * The fields that a request can set. Each field's window defines the versions in which the field exists. The API
 * documentation and the typed client are derived from these schemas.
 */
const writableFields = {
  customer_name: before('2024-09-01', z.string().min(1)),
  customer_email: before('2024-09-01', z.email()),
  customer: since('2024-09-01', customer),
  amount: [
    before('2024-03-15', z.number().positive().describe('The amount in euros, such as 12.5')),
    since('2024-03-15', z.int().positive().describe('The amount in the smallest unit of the currency, such as 1250')),
  ],
  currency: since('2024-03-15', z.enum(['EUR', 'USD', 'GBP'])),
  // A new optional field is a compatible change, which needs a window but no conversion.
  memo: since('2025-04-10', z.string().max(500).optional()),
} as const;

export const newInvoice = object(writableFields);

export const invoice = object({
  id: z.string(),
  ...writableFields,
  paid: before('2025-04-10', z.boolean()),
  status: since('2025-04-10', z.enum(['open', 'paid', 'void'])),
});
