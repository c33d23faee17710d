import { before, since, until } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { operationsOf } from '@apistrata/microversion-router';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRequest } from '../../../testing/send-request.js';
import { explorer } from '../src/index.js';

const operation = operationsOf<object>();

/** For each format: three versions in ascending order, and one that is not in the list. Strings would be sorted differently. */
const SCHEMES = {
  dates: ['2024-01-31', '2025-03-01', '2026-11-22', '2025-03-02'],
  'MAJOR.MINOR': ['2.1', '2.9', '2.10', '2.11'],
  integers: ['2', '9', '10', '11'],
  semver: ['1.2.0', '1.9.3', '1.10.0', '1.10.1'],
} as const;

describe.each(Object.entries(SCHEMES))('pages of an API with %s as versions', (_, [first, second, third, unlisted]) => {
  const operations = [
    operation({
      method: 'GET',
      path: '/invoices',
      summary: 'List invoices',
      status: 200,
      reply: object({
        total: [before(second, z.int()), since(second, z.string())],
        note: since(third, z.string()),
      }),
      run: () => ({ total: 1, note: '' }),
    }),
    operation({
      method: 'GET',
      path: '/export',
      summary: 'Export',
      window: until(second, true),
      status: 204,
      run: () => undefined,
    }),
  ];
  const pages = explorer({ operations, versions: [third, first, second], title: 'Invoices', path: '/docs' });
  const page = async (path: string) => {
    const { status, body } = await sendRequest(pages, { path: `/docs${path}` });
    return `${status} ${body}`;
  };

  it('show the newest version, any listed one, and reject an unlisted one', async () => {
    expect(await page('/')).toContain(`<h1>Invoices ${third}`);
    expect(await page('/')).toMatch(/listExport.*removed/);
    expect(await page(`/?version=${second}`)).toContain(`<h1>Invoices ${second}`);
    expect(await page(`/?version=${second}`)).not.toMatch(/listExport.*removed/);
    expect(await page(`/?version=${unlisted}`)).toMatch(/^404 /);
    expect(await page(`/?version=${unlisted}`)).toContain(`Supported versions: ${first} to ${third}`);
  });

  it('show each change at its version', async () => {
    const changesOf = async (version: string) => {
      const text = await page(`/versions/${version}`);
      return ['total', 'note', '/export'].filter((part) => text.includes(part));
    };
    expect(await changesOf(second)).toEqual(['total']);
    expect(await changesOf(third)).toEqual(['note', '/export']);
    expect(await page(`/operations/listExport?version=${second}`)).toContain(`until ${second}`);
  });

  it('compare two versions', async () => {
    const changesBetween = async (from: string, to: string) =>
      JSON.parse((await page(`/changes?from=${from}&to=${to}&format=json`)).slice(4)).changes;
    expect(await changesBetween(first, third)).toHaveLength(2);
    expect(await changesBetween(first, second)).toHaveLength(1);
  });

  it('have the OpenAPI document of each version', async () => {
    const documentAt = async (version: string) => JSON.parse((await page(`/openapi.json?version=${version}`)).slice(4));
    const documents = await Promise.all([first, third].map(documentAt));
    expect(documents.map(({ info, paths }) => [info.version, Object.keys(paths)])).toEqual([
      [first, ['/invoices', '/export']],
      [third, ['/invoices']],
    ]);
  });
});
