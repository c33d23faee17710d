import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { operations } from '@apistrata/compute-router';
import { computeApiReference } from '@apistrata/compute-router/reference';
import express from 'express';
import express4 from 'express4';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { explorer } from '../src/index.js';
import { Api } from '../src/model/api.js';
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

describe('comparisons of versions', () => {
  it.each(['json', 'markdown', 'html'])('are computed once as %s', async (format) => {
    const changes = vi.spyOn(Api.prototype, 'allChanges');
    const url = await listen(explorer({ ...options, path: '/docs' }));
    const read = async () => (await fetch(`${url}/docs/changes?from=1.1&to=1.5&format=${format}`)).text();
    const first = await read();
    const { length } = changes.mock.calls;
    expect(length).toBeGreaterThan(0);
    expect(await read()).toBe(first);
    expect(changes.mock.calls).toHaveLength(length);
    changes.mockRestore();
  });
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

  it('show the operations of a version, and mark what the version changed', async () => {
    const page = await text('/?version=1.5');
    expect(page).toContain('<h1>Library &lt;API&gt; 1.5</h1>');
    expect(page).toContain(bookHistory['1.5']);
    expect(page.match(/<mark><span class="chip chip-warn">changed/g)).toHaveLength(2);
    expect(await text('/?version=1.6')).not.toContain('<mark>');
  });

  it('mark removed elements at the version that removed them, and omit them afterwards', async () => {
    expect(await text('/?version=1.7')).toContain('class="gone"');
    expect(await text('/?version=1.8')).not.toContain('/books/{id}');
  });

  it('show an operation with the versions of its fields and its complete history', async () => {
    const page = await text('/operations/createBook?version=1.8');
    expect(page).toContain('What is on its spine, as in <code>Ships</code>');
    expect(page).toContain('The title is longer than a spine');
    expect(page).toMatch(/id="body\.book\.shelf"[\s\S]*?since 1\.8/);
    expect(page).toMatch(/id="body\.book\.name" class="gone"[\s\S]*?until 1\.4/);
    expect(page).toContain('aria-label="Versions 1.1 to 1.10; changes at 1.3, 1.5, 1.8"');
    expect(page).toMatch(/the status<\/code> <span class="diff"><del>200<\/del> <ins>201<\/ins>/);
  });

  it('escape the text of definitions', async () => {
    expect(await text('/operations/deleteBook?version=1.2')).toContain('Remove a book &lt;for good&gt;');
  });

  it('report that the version does not have an operation', async () => {
    expect(await text('/operations/deleteBook?version=1.9')).toContain('does not have this operation');
  });

  it('compare two versions, breaking changes first', async () => {
    const page = await text('/changes?from=1.1&to=1.10');
    const [before, after] = page.split('<h2>Other changes');
    expect(before).toContain('breaking: is rejected');
    expect(before).toContain('breaking: is required');
    expect(before).toContain('breaking: is 201 instead of 200');
    expect(before).toContain('breaking: returns 404');
    expect(after).toContain('shelf in the request</code> was added');
    expect(await text('/changes?from=1.10&to=1.1')).toBe(page);
    expect(await text('/changes?from=1.1&to=1.10&breaking=only')).not.toContain('Other changes');
    const removed = await text('/changes?from=1.1&to=1.10&kind=removed');
    expect(removed.match(/class="change"/g)).toHaveLength(1);
    expect(await text('/changes?from=1.1&to=1.10&operation=add+book')).not.toContain(
      'Remove a book &lt;for good&gt;</a>',
    );
  });

  it('export the comparison as JSON and as Markdown', async () => {
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

  it('find operations and fields by words of their descriptions', async () => {
    const page = await text('/search?q=spine');
    expect(page).toContain('1 operation and 0 versions for “spine”.');
    expect(page).toContain('/operations/createBook');
    expect(page).toContain('value="spine"');
    expect(await text('/search?q=spien')).toContain('/operations/createBook#body.book.title');
    expect(await text('/search?q=author')).toContain('/versions/1.5');
    expect(await text('/search?q=what+breaks+from+1.2+to+1.6')).toContain('Changes from 1.2 to 1.6');
    expect(await text(`/search?q=${encodeURIComponent('<script>')}`)).not.toContain('“<script>');
  });

  it('list the versions as an Atom feed', async () => {
    const feed = await get('/versions.atom');
    expect(feed.headers.get('content-type')).toMatch(/^application\/atom\+xml/);
    const content = await feed.text();
    expect(content.match(/<entry>/g)).toHaveLength(10);
    expect(content).toContain(bookHistory['1.5']);
  });

  it('count the changes of each version, and mark breaking ones', async () => {
    const item = (await text('/versions?counts')).split('<li>').find((each) => each.includes('/versions/1.7'));
    expect(item).toContain('1 removed');
    expect(item).toContain('breaking');
  });

  it('show how to send a request in several languages', async () => {
    const page = await text('/operations/createBook?version=1.8');
    for (const label of ['curl', 'JavaScript', 'Python', 'Go'])
      expect(page).toContain(`name="sample" value="${label}"`);
    expect(page).toMatch(/curl -X POST https:\/\/api\.example\.com\/library\/books/);
  });

  it('keep the version in every link to another page', async () => {
    for (const path of [
      '/?version=1.5',
      '/operations/createBook?version=1.5',
      '/changes?from=1.1&to=1.5&version=1.5',
    ]) {
      const links = [...(await text(path)).matchAll(/href="([^"]*\/docs[^"#]*)"/g)].map(([, link]) => link!);
      const pages = links.filter((link) => !/assets|format=|atom$/.test(link));
      expect(pages.length, path).toBeGreaterThan(5);
      expect(pages.filter((link) => !link.includes('version='))).toEqual([]);
    }
  });

  it('contain no inline script, and few bytes', async () => {
    const result = await get('/?version=1.5');
    expect(result.headers.get('content-security-policy')).toContain("script-src 'self'");
    const page = await result.text();
    expect(page).not.toMatch(/<script>|<script [^>]*>[^<]|style="|onclick/);
    const names = ['ui.css', 'ui.js', 'icon.svg', 'explorer.css', 'explorer.js', 'try.js'];
    const assets = await Promise.all(names.map((name) => text(`/assets/${name}`)));
    expect(gzipSync(page + assets.join('')).length).toBeLessThan(20 * 1024);
  });

  it('show the highest version by default', async () => {
    expect(await text('/')).toContain('<option selected>1.10</option>');
    expect(await text('/operations/listBooks')).not.toMatch(/since 1\.1</);
  });

  it('return 404 for unknown pages, versions and files', async () => {
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

  it('let browsers cache the files', async () => {
    const first = await get('/assets/explorer.css');
    const again = await get('/assets/explorer.css', { 'If-None-Match': first.headers.get('etag')! });
    expect(again.status).toBe(304);
  });
});

describe('the pages of the compute API', () => {
  it('take less than 25 kB for the first page with its files, and less than 80 kB for the page uncompressed', async () => {
    const docs = `${await listen(explorer({ operations, min: '2.1', max: '2.100', path: '/docs', ...computeApiReference }))}/docs`;
    const sizeOf = async (path: string) => {
      const { headers } = await fetch(docs + path, { headers: { 'Accept-Encoding': 'gzip' } });
      expect([path, headers.get('content-encoding')]).toEqual([path, 'gzip']);
      return Number(headers.get('content-length'));
    };
    const names = ['ui.css', 'ui.js', 'icon.svg', 'explorer.css', 'explorer.js', 'try.js'];
    const sizes = await Promise.all(['/', ...names.map((name) => `/assets/${name}`)].map(sizeOf));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(25_000);
    const plain = await fetch(`${docs}/`, { headers: { 'Accept-Encoding': 'gzip;q=0' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect((await plain.text()).length).toBeLessThan(80_000);
  });

  it('find the pages that answer typical questions with one search', async () => {
    const docs = `${await listen(explorer({ operations, min: '2.1', max: '2.100', path: '/docs', ...computeApiReference }))}/docs`;
    const linksOf = async (searchText: string) => {
      const page = await (await fetch(`${docs}/search?q=${encodeURIComponent(searchText)}`)).text();
      const main = page.slice(page.indexOf('<main'));
      return [...main.matchAll(/href="\/docs([^"]*)"/g)].map(([, link]) => link);
    };
    expect((await linksOf('which version added tags to servers')).slice(0, 3)).toContain('/versions/2.26?version=2.26');
    expect((await linksOf('what breaks from 2.53 to 2.96'))[0]).toBe('/changes?from=2.53&amp;to=2.96');
    const resize = (await linksOf('why do I get 409 on resize')).filter((link) => link?.startsWith('/operations/'));
    expect(resize.slice(0, 3)).toContain('/operations/resizeServer');
  });

  it('list servers first, and do not repeat the operations of aliases', async () => {
    const docs = `${await listen(explorer({ operations, min: '2.1', max: '2.100', path: '/docs', ...computeApiReference }))}/docs`;
    const page = await (await fetch(`${docs}/`)).text();
    const sections = [...page.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, title]) => title);
    expect(sections[0]).toBe('Servers');
    expect(page).not.toContain('OfVolumesBoot');
    const alias = await (await fetch(`${docs}/operations/showServerOfVolumesBoot`)).text();
    expect(alias).toContain('This operation is identical to an operation in');
    const resize = await (await fetch(`${docs}/operations/resizeServer`)).text();
    expect(resize).toMatch(/vm_state.*<code>active<\/code>, <code>stopped<\/code>/s);
    for (const status of [202, 400, 401, 403, 404, 409, 413, 429, 503])
      expect(resize).toContain(`id="status-${status}"`);
    const list = await (await fetch(`${docs}/operations/listServers`)).text();
    expect(list).toMatch(/id="query\.limit".*?<span class="type">integer</s);
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

it('an operation shows its example at the versions that accept the example', async () => {
  const exampleOf = () => ({ request: { book: { title: '<Emma>' } }, response: { book: { id: 1, title: '<Emma>' } } });
  const docs = `${await listen(explorer({ ...options, path: '/docs', description: { exampleOf } }))}/docs`;
  const page = async (version: string) => (await fetch(`${docs}/operations/createBook?version=${version}`)).text();
  const shown = async (version: string) => (await page(version)).split('id="example"')[1]?.split('class="op-body"')[0];
  expect(await shown('1.5')).toMatch(/the curl sample.*&lt;Emma&gt;.*the response.*&lt;Emma&gt;/s);
  const later = await shown('1.8');
  expect(later).toContain('&lt;Emma&gt;');
  expect(later).not.toContain('aria-label="the response"');
  expect(await shown('1.4')).not.toContain('Emma');
});
