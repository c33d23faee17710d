import { before, migrations, since, versioning } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../../testing/send-request.js';
import { createRouter, operationsOf } from '../../src/index.js';

interface Invoice {
  readonly total: { readonly cents: number };
}

const history = migrations([
  {
    version: '2',
    summary: 'A total is an object',
    requests: { createInvoice: ({ total }: { total: number }) => ({ total: { cents: total } }) },
    responses: { createInvoice: ({ total }: Invoice) => ({ total: total.cents }) },
  },
]);

const forms: Readonly<Record<string, object>> = { 1: { total: 5 }, 2: { total: { cents: 5 } } };
const versions = Object.keys(forms);

const invoice = object({ total: [before('2', z.int()), since('2', z.strictObject({ cents: z.int() }))] });

describe('migrations in a router', () => {
  const seen: unknown[] = [];
  const createInvoice = operationsOf<object>()({
    method: 'POST',
    path: '/invoices',
    summary: 'Create an invoice',
    status: 201,
    body: invoice,
    reply: invoice,
    run: ({ body }) => {
      seen.push(body);
      return body;
    },
  });
  const negotiate = versioning({ versions }).negotiate;
  const options = { operations: [createInvoice], call: () => ({}), negotiate, migrations: history };
  const router = createRouter({ ...options, validateReplies: true });
  const post = (version: string, body: object | undefined) => {
    const headers = { 'API-Version': version, 'Content-Type': 'application/json' };
    return sendRequest(router, { method: 'POST', path: '/invoices', headers, body: JSON.stringify(body) });
  };

  it.each(versions)(
    'pass the newest format to the handler, and the format of version %s to its clients',
    async (version) => {
      const response = await post(version, forms[version]);
      expect([response.status, JSON.parse(response.body)]).toEqual([201, forms[version]]);
      expect(seen.pop()).toEqual(forms[2]);
    },
  );

  it('run after the validation of the version', async () => {
    const response = await post('1', forms[2]);
    expect(JSON.parse(response.body)).toMatchObject({
      status: 400,
      code: 'INVALID_BODY',
      errors: [expect.objectContaining({ pointer: '/total' })],
    });
  });

  it('must name operations that exist', () => {
    const other = migrations([{ version: '2', summary: 'x', responses: { showInvoise: (body: Invoice) => body } }]);
    expect(() => createRouter({ ...options, migrations: other })).toThrow(
      "unknown operation 'showInvoise' (known: createInvoice",
    );
  });
});
