import type { RequestListener } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { migrated, migrations, versioning } from '../src/index.js';

interface Invoice {
  readonly total: { readonly cents: number };
  readonly lines: readonly string[];
}

/** 2: `total` is an object. 3: `note` became `lines`. */
const history = migrations([
  {
    version: '3',
    summary: 'A note is a list of lines',
    requests: { createInvoice: ({ note, ...rest }: { note: string }) => ({ ...rest, lines: note.split(', ') }) },
    responses: { createInvoice: ({ lines, ...rest }: Invoice) => ({ ...rest, note: lines.join(', ') }) },
  },
  {
    version: '2',
    summary: 'A total is an object',
    requests: { createInvoice: ({ total, ...rest }: { total: number }) => ({ ...rest, total: { cents: total } }) },
    responses: { createInvoice: ({ total, ...rest }: Invoice) => ({ ...rest, total: total.cents }) },
  },
]);

const forms: Readonly<Record<string, object>> = {
  1: { total: 5, note: 'a, b' },
  2: { total: { cents: 5 }, note: 'a, b' },
  3: { total: { cents: 5 }, lines: ['a', 'b'] },
};
const versions = Object.keys(forms);

describe('migrations', () => {
  it.each(versions)('convert requests of version %s up and responses down', (version) => {
    expect(history.request('createInvoice', forms[version], version)).toEqual(forms[3]);
    expect(history.response('createInvoice', forms[3], version)).toEqual(forms[version]);
    expect(history.response('showOther', forms[3], version)).toBe(forms[3]);
  });

  it('are listed oldest first', () => {
    expect(history.changes.map(({ version, summary }) => `${version} ${summary}`)).toEqual([
      '2 A total is an object',
      '3 A note is a list of lines',
    ]);
  });

  it('have one change per version', () => {
    const twice = [
      { version: '2', summary: 'a' },
      { version: '2', summary: 'b' },
    ];
    expect(() => migrations(twice)).toThrow('two changes have the version 2: combine them');
  });
});

function post(listener: RequestListener, version: string, body: object) {
  const headers = { 'API-Version': version, 'Content-Type': 'application/json' };
  return sendRequest(listener, { method: 'POST', path: '/invoices', headers, body: JSON.stringify(body) });
}

describe('migrations in an Express app', () => {
  const app = express();
  app.use(versioning({ versions }), express.json());
  app.post('/invoices', migrated(history, 'createInvoice'), (req, res) => {
    if (req.body.lines[0] === 'fail') res.status(422).json({ lines: 'unusable' });
    else res.json(req.body);
  });

  it.each(versions)('convert for version %s', async (version) => {
    expect(JSON.parse((await post(app, version, forms[version] ?? {})).body)).toEqual(forms[version]);
  });

  it('do not change errors', async () => {
    const response = await post(app, '1', { total: 5, note: 'fail' });
    expect([response.status, JSON.parse(response.body)]).toEqual([422, { lines: 'unusable' }]);
  });

  it('must name a change', () => {
    expect(() => migrated(history, 'x')).toThrow("no change converts the operation 'x' (known: createInvoice");
  });
});
