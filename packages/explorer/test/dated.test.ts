import { before, since, until } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { operationsOf } from '@apistrata/microversion-router';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../testing/send-request.js';
import { explorer } from '../src/index.js';

const versions = ['2024-01-31', '2025-03-01', '2026-11-22'];
const operation = operationsOf<object>();
const invoice = object({
  total: [before('2025-03-01', z.int()), since('2025-03-01', z.string())],
  note: since('2026-02-01', z.string()),
});
const operations = [
  operation({
    method: 'GET',
    path: '/invoices',
    summary: 'List invoices',
    status: 200,
    reply: invoice,
    run: () => ({ total: 1, note: '' }),
  }),
  operation({
    method: 'GET',
    path: '/export',
    summary: 'Export',
    window: until('2025-12-31', true),
    status: 204,
    run: () => undefined,
  }),
];
const pages = explorer({ operations, versions, title: 'Invoices', path: '/docs' });
const page = async (path: string) => (await sendRequest(pages, { path: `/docs${path}` })).body;

describe('pages of an API with changes between its versions', () => {
  it('show a change at the first version that contains it', async () => {
    expect(await page('/versions/2025-03-01')).toContain('total');
    const newest = await page('/versions/2026-11-22');
    expect(newest).toContain('note');
    expect(newest).toContain('/export');
    expect(await page('/operations/listExport?version=2025-03-01')).toContain('until 2025-03-01');
  });

  it('require either a list of versions or a range, but not both', () => {
    expect(() => explorer({ operations, versions, min: '1.1' })).toThrow('replaces "min" and "max"');
    expect(() => explorer({ operations, versions: [] })).toThrow('the list of versions is empty');
  });
});
