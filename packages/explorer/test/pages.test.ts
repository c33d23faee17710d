import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import express4 from 'express4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explorer } from '../src/index.js';
import { bookHistory, bookOperations } from './books.js';

const options = {
  operations: bookOperations,
  title: 'Library <API>',
  min: '1.1',
  max: '1.10',
  server: '/library',
  history: bookHistory,
};

const servers: Server[] = [];

function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

afterAll(() => {
  for (const server of servers) server.close();
});

describe.each(['Express 5', 'Express 4', 'node:http'])('the pages in %s', (kind) => {
  let docs: string;

  beforeAll(async () => {
    if (kind === 'node:http') docs = `${await listen(explorer({ ...options, path: '/docs' }))}/docs`;
    else {
      const app = (kind === 'Express 5' ? express : (express4 as unknown as typeof express))();
      app.use('/docs', explorer(options));
      docs = `${await listen(app)}/docs`;
    }
  });

  const get = (path: string, headers: Record<string, string> = {}) => fetch(docs + path, { headers });
  const text = async (path: string) => (await get(path)).text();

  it('show the operations of a version, and mark what its step changed', async () => {
    const page = await text('/?version=1.5');
    expect(page).toContain('Library &lt;API&gt; at 1.5');
    expect(page).toContain(bookHistory['1.5']);
    expect(page.match(/class="mark mark-changed"/g)).toHaveLength(2);
    expect(await text('/?version=1.6')).not.toContain('class="mark');
  });

  it('show what is gone with a version as gone, and not at all after that', async () => {
    expect(await text('/?version=1.7')).toContain('class="gone"');
    expect(await text('/?version=1.8')).not.toContain('/books/{id}');
  });

  it('show an operation with the versions of its fields and its whole life', async () => {
    const page = await text('/operations/createBook?version=1.8');
    expect(page).toContain('What is on its spine, as in <code>Ships</code>');
    expect(page).toContain('The title is longer than a spine');
    expect(page).toMatch(/id="body\.book\.shelf".*since 1\.8/);
    expect(page).toMatch(/id="body\.book\.name" class="gone".*until 1\.4/);
    expect(page).toContain('aria-label="Versions 1.1 to 1.10; changes at 1.3, 1.5, 1.8"');
    expect(page).toContain('the status: <del>200</del> <ins>201</ins>');
  });

  it('escape what definitions say', async () => {
    expect(await text('/operations/deleteBook?version=1.2')).toContain('Remove a book &lt;for good&gt;');
  });

  it('say of an operation that the version does not have it', async () => {
    expect(await text('/operations/deleteBook?version=1.9')).toContain('does not have this operation');
  });

  it('compare two versions, breaking changes first', async () => {
    const page = await text('/changes?from=1.1&to=1.10');
    const [before, after] = page.split('<h2>Other changes');
    expect(before).toContain('breaking: is rejected');
    expect(before).toContain('breaking: is required');
    expect(before).toContain('breaking: is 201 instead of 200');
    expect(before).toContain('breaking: returns 404');
    expect(after).toContain('shelf in the request was added');
    expect(await text('/changes?from=1.10&to=1.1')).toBe(page);
  });

  it('give the comparison as JSON and as Markdown', async () => {
    const { from, to, changes } = (await (await get('/changes?from=1.4&to=1.5&format=json')).json()) as any;
    expect([from, to, changes.length]).toEqual(['1.4', '1.5', 2]);
    expect(changes[1].parts.find((part: any) => part.name === 'body.book.title')).toMatchObject({
      change: 'added',
      version: '1.5',
      breaking: 'is required',
    });
    const markdown = await get('/changes?from=1.4&to=1.5', { Accept: 'text/markdown' });
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toContain('## Breaking changes for clients of 1.4');
  });

  it('find operations and fields by their words', async () => {
    const page = await text('/search?q=spine');
    expect(page).toContain('1 operations with');
    expect(page).toContain('/operations/createBook');
    expect(await text(`/search?q=${encodeURIComponent('<script>')}`)).not.toContain('“<script>');
  });

  it('keep the version in every link to another page', async () => {
    for (const path of [
      '/?version=1.5',
      '/operations/createBook?version=1.5',
      '/changes?from=1.1&to=1.5&version=1.5',
    ]) {
      const links = [...(await text(path)).matchAll(/href="([^"]*\/docs[^"#]*)"/g)].map(([, link]) => link!);
      const pages = links.filter((link) => !/assets|format=/.test(link));
      expect(pages.filter((link) => !link.includes('version='))).toEqual([]);
    }
  });

  it('send no page that runs a script of its own, and few bytes', async () => {
    const answer = await get('/?version=1.5');
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
    const page = await answer.text();
    expect(page).not.toMatch(/<script>|<script [^>]*>[^<]|style="|onclick/);
    const assets = await Promise.all([text('/assets/explorer.css'), text('/assets/explorer.js')]);
    expect(gzipSync(page + assets.join('')).length).toBeLessThan(150 * 1024);
  });

  it('show the highest version by default', async () => {
    expect(await text('/')).toContain('<option selected>1.10</option>');
    expect(await text('/operations/listBooks')).not.toContain('since 1.1 ');
  });

  it('answer 404 to unknown pages, versions and files', async () => {
    for (const path of [
      '/nowhere',
      '/operations/nothing',
      '/?version=1.11',
      '/versions/2.1',
      '/assets/../package.json',
      '/assets/toString',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });

  it('pass other methods to the next handler', async () => {
    expect((await fetch(`${docs}/`, { method: 'POST' })).status).toBe(kind === 'node:http' ? 405 : 404);
  });

  it('let browsers keep the files', async () => {
    const first = await get('/assets/explorer.css');
    const again = await get('/assets/explorer.css', { 'If-None-Match': first.headers.get('etag')! });
    expect(again.status).toBe(304);
  });
});

describe('explorer()', () => {
  it('rejects unknown options and invalid ranges', () => {
    expect(() => explorer({ ...options, titel: 'x' } as never)).toThrow(/unknown option "titel"/);
    expect(() => explorer({ ...options, min: '2.1' })).toThrow(RangeError);
    expect(() => explorer({ ...options, path: 'docs/' })).toThrow(/must start with a slash/);
    expect(() => explorer({ min: '1.1', max: '1.2' } as never)).toThrow(/"operations" is missing/);
  });
});

it('an operation shows its example where the version accepts it', async () => {
  const exampleOf = () => ({ request: { book: { title: '<Emma>' } }, response: { book: { id: 1, title: '<Emma>' } } });
  const docs = `${await listen(explorer({ ...options, path: '/docs', description: { exampleOf } }))}/docs`;
  const page = async (version: string) => (await fetch(`${docs}/operations/createBook?version=${version}`)).text();
  expect(await page('1.5')).toMatch(
    /<details><summary>Example for 1\.5.*Request.*&lt;Emma&gt;.*Response.*<\/details>/s,
  );
  const later = (await page('1.8')).split('id="example"')[1]!;
  expect(later).toContain('aria-label="Request of the example"');
  expect(later).not.toContain('aria-label="Response of the example"');
  expect(await page('1.4')).not.toContain('id="example"');
});
