import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  answer,
  changesBetween,
  coverage,
  createRouter,
  field,
  nestedList,
  openApi,
  operationsOf,
  view,
} from '../../src/router/index.js';
import { object, one, query } from '../../src/schema/index.js';
import { Version } from '../../src/version.js';
import { between, since, until } from '../../src/windowed.js';

interface Book {
  readonly id: string;
  readonly title: string;
  readonly year: number;
  readonly lent: readonly { readonly by: string; readonly until: string }[];
}

interface Shelf {
  readonly books: Map<string, Book>;
  readonly reader: string;
}

const loan = view<Book['lent'][number], Shelf>({
  by: field(z.string(), (l) => l.by),
  until: since(
    '2.5',
    field(z.string(), (l) => l.until),
  ),
});

const book = view<Book, Shelf>(
  {
    id: field(z.string(), (b) => b.id),
    name: until(
      '2.2',
      field(z.string(), (b) => b.title),
    ),
    title: since(
      '2.3',
      field(z.string(), (b) => b.title),
    ),
    year: since(
      '2.2',
      field(z.number(), (b) => b.year),
    ),
    secret: field(z.string().optional(), (_, shelf) => (shelf.reader === 'admin' ? 'yes' : undefined)),
    loans: since(
      '2.4',
      nestedList(loan, (b) => b.lent),
    ),
  },
  { memo: (shelf) => shelf.reader },
);

const operation = operationsOf<Shelf>();

const find = ({ books, params }: Shelf & { params: { id: string } }) => {
  const found = books.get(params.id);
  if (!found) throw Object.assign(new Error('no such book'), { status: 404 });
  return found;
};

const operations = [
  operation({
    method: 'GET',
    path: '/books',
    summary: 'List books',
    status: 200,
    query: query(
      { limit: one(z.string().regex(/^\d+$/).transform(Number)) },
      { extra: [until('2.4', 'ignore'), since('2.5', 'refuse')] },
    ),
    reply: { books: [book] },
    run: ({ books, query }) => ({ books: [...books.values()].slice(0, query.limit) }),
  }),
  operation({
    method: 'POST',
    path: '/books',
    summary: 'Add a book',
    policy: 'books:create',
    status: [until('2.1', 200), since('2.2', 201)],
    errors: [400],
    body: object({ book: object({ title: z.string().min(1), year: since('2.2', z.int().default(0)) }) }),
    reply: { book },
    run: ({ books, body }) => {
      const added = { id: String(books.size + 1), title: body.book.title, year: body.book.year ?? 0, lent: [] };
      books.set(added.id, added);
      return answer({ body: { book: added }, headers: { Location: `/books/${added.id}` } });
    },
  }),
  operation({
    method: 'GET',
    path: '/books/{id}',
    summary: 'Show',
    status: 200,
    target: find,
    reply: { book },
    run: ({ target }) => ({ book: target }),
  }),
  operation({
    method: 'DELETE',
    path: '/books/{id}',
    summary: 'Remove',
    window: between('2.2', '2.3', true),
    status: 204,
    target: find,
    run: ({ books, target }) => books.delete(target.id),
  }),
  operation({
    method: 'POST',
    path: '/books/{id}/action',
    action: 'lend',
    summary: 'Lend',
    policy: 'books:lend',
    status: 202,
    body: object({ lend: object({ to: z.string() }) }),
    target: find,
    run: ({ books, target, body }) => {
      books.set(target.id, { ...target, lent: [...target.lent, { by: body.lend.to, until: 'soon' }] });
    },
  }),
  operation({
    method: 'POST',
    path: '/books/{id}/action',
    action: 'burn',
    summary: 'Burn',
    window: since('2.5', true),
    status: 202,
    body: object({ burn: z.null() }),
    target: find,
    run: ({ books, target }) => books.delete(target.id),
  }),
];

const books = new Map<string, Book>();
const denied = new Set<string>();

const router = createRouter<Shelf>({
  operations,
  call: (req) => ({ books, reader: String(req.headers['x-reader'] ?? 'nobody') }),
  negotiate: (req) => Version.of(String(req.headers['x-version'] ?? '2.1')),
  authorize: ({ policy }) => {
    if (denied.has(String(policy))) throw Object.assign(new Error('denied'), { status: 403 });
  },
  fault: (error: any, _req: IncomingMessage, res: ServerResponse) => {
    res.statusCode = error.status ?? 500;
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ code: error.code, message: error.message }));
  },
  bodyLimitBytes: 1000,
  validateReplies: true,
});

const server = createServer(router);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const at = (version: string) => ({
  get: (path: string) => request(server).get(path).set('x-version', version),
  post: (path: string, body: unknown) =>
    request(server)
      .post(path)
      .set('x-version', version)
      .send(body as object),
  delete: (path: string) => request(server).delete(path).set('x-version', version),
});

describe('operations behind one router', () => {
  it('answer with the status and the fields of the version', async () => {
    const first = await at('2.1').post('/books', { book: { title: 'One' } });
    expect([first.status, first.body, first.headers.location]).toEqual([
      200,
      { book: { id: '1', name: 'One' } },
      '/books/1',
    ]);
    const second = await at('2.2').post('/books', { book: { title: 'Two', year: 2 } });
    expect([second.status, second.body]).toEqual([201, { book: { id: '2', name: 'Two', year: 2 } }]);
    expect((await at('2.4').get('/books/2')).body).toEqual({ book: { id: '2', title: 'Two', year: 2, loans: [] } });
  });

  it('choose among actions by the only key of the body', async () => {
    expect((await at('2.1').post('/books/1/action', { lend: { to: 'Ada' } })).status).toBe(202);
    expect((await at('2.4').get('/books/1')).body.book.loans).toEqual([{ by: 'Ada' }]);
    expect((await at('2.5').get('/books/1')).body.book.loans).toEqual([{ by: 'Ada', until: 'soon' }]);
    expect((await at('2.5').post('/books/2/action', { burn: null })).status).toBe(202);
  });

  it.each([
    ['an unknown action', { sing: null }, 400, 'UNKNOWN_ACTION'],
    ['an action of another version', { burn: null }, 404, 'NOT_IN_VERSION'],
    ['two keys', { lend: { to: 'x' }, burn: null }, 400, 'UNKNOWN_ACTION'],
    ['no key', {}, 400, 'UNKNOWN_ACTION'],
    ['a list', [], 400, 'MALFORMED_BODY'],
    ['a wrong body', { lend: { to: 1 } }, 400, 'INVALID_BODY'],
  ])('refuse %s as an action', async (_, body, status, code) => {
    const answered = await at('2.4').post('/books/1/action', body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
  });

  it('exist in their window only', async () => {
    expect((await at('2.1').delete('/books/1')).body.code).toBe('NOT_IN_VERSION');
    expect((await at('2.4').delete('/books/1')).body.code).toBe('NOT_IN_VERSION');
    expect((await at('2.3').delete('/books/9')).body.message).toBe('no such book');
  });

  it('find nothing for other methods, trailing slashes and unknown paths', async () => {
    for (const path of ['/books/', '/book', '/books/1/2', '/%'])
      expect((await at('2.1').get(path)).body.code).toBe('NO_ROUTE');
    expect((await at('2.1').delete('/books')).body.code).toBe('NO_ROUTE');
  });

  it('refuse other media types, bad JSON, large and missing bodies', async () => {
    const post = (type: string, text: string) => request(server).post('/books').set('Content-Type', type).send(text);
    expect((await post('application/xml', '<a/>')).status).toBe(415);
    expect((await post('application/json', '{"book":')).body.code).toBe('MALFORMED_BODY');
    expect((await post('application/json', `"${'x'.repeat(2000)}"`)).status).toBe(413);
    expect((await post('text/plain', '{"book":{"title":"T"}}')).status).toBe(200);
    expect((await request(server).post('/books')).body.code).toBe('INVALID_BODY');
  });

  it('look for the object before the policy, and for the body before both', async () => {
    denied.add('books:lend');
    expect((await at('2.1').post('/books/77/action', { lend: 1 })).status).toBe(400);
    expect((await at('2.1').post('/books/77/action', { lend: { to: 'x' } })).status).toBe(404);
    expect((await at('2.1').post('/books/1/action', { lend: { to: 'x' } })).status).toBe(403);
    denied.clear();
  });

  it('refuse unknown query parameters where the version says so', async () => {
    expect((await at('2.4').get('/books?x=1')).status).toBe(200);
    expect((await at('2.5').get('/books?x=1')).body.code).toBe('INVALID_QUERY');
    expect((await at('2.5').get('/books?limit=0')).body).toEqual({ books: [] });
  });

  it('keep a rendered record no longer than it lives, and apart per caller', async () => {
    const shown = await at('2.4').get('/books/1').set('x-reader', 'admin');
    expect(shown.body.book.secret).toBe('yes');
    expect((await at('2.4').get('/books/1')).body.book.secret).toBeUndefined();
    await at('2.1').post('/books/1/action', { lend: { to: 'Bob' } });
    expect((await at('2.4').get('/books/1')).body.book.loans).toHaveLength(2);
  });
});

describe('definitions', () => {
  const plain = { method: 'GET', path: '/a', summary: '', status: 200, run: () => undefined } as const;
  const build =
    (...list: Parameters<typeof operation>[0][]) =>
    () =>
      createRouter({
        operations: list as never,
        call: () => ({}),
        negotiate: () => Version.of('2.1'),
        fault: () => {},
      });

  it('are refused when two claim the same version of a path', () => {
    expect(build({ ...plain, window: until('2.5', true) }, { ...plain, window: since('2.5', true) })).toThrow(
      /claim GET \/a/,
    );
    expect(build({ ...plain, window: until('2.4', true) }, { ...plain, window: since('2.5', true) })).not.toThrow();
  });

  it('describe themselves as OpenAPI of any version', () => {
    const document = openApi(operations, { title: 'Books', version: '2.5' }) as any;
    expect(Object.keys(document.paths)).toEqual(['/books', '/books/{id}', '/books/{id}/action']);
    expect(document.paths['/books/{id}'].delete).toBeUndefined();
    const posted = document.paths['/books'].post;
    expect(Object.keys(posted.responses)).toEqual(['201', '400']);
    expect(posted.requestBody.content['application/json'].schema.properties.book.properties).toHaveProperty('year');
    const acted = document.paths['/books/{id}/action'].post;
    expect(acted.requestBody.content['application/json'].schema.oneOf).toHaveLength(2);
    expect(acted).toMatchObject({ operationId: 'actOnBook', 'x-action': ['lend', 'burn'] });
  });

  it('describe actions as paths of their own for generators that cannot take alternatives', () => {
    const document = openApi(operations, { title: 'Books', version: '2.5', actions: 'separate' }) as any;
    expect(document.paths['/books/{id}/action#burn'].post.operationId).toBe('burnBook');
    expect(
      document.paths['/books/{id}/action#lend'].post.requestBody.content['application/json'].schema.properties,
    ).toHaveProperty('lend');
  });

  it('tell what changed between two versions', () => {
    const changes = changesBetween(operations, '2.1', '2.3');
    expect(changes.find(({ operation }) => operation === 'DELETE /books/{id}')).toMatchObject({ change: 'added' });
    const { parts } = changes.find(({ operation }) => operation === 'POST /books')!;
    const named = (kind: string) => parts.filter(({ change }) => change === kind).map(({ name }) => name);
    expect(named('added')).toEqual(['body.book.year', 'reply.book.title', 'reply.book.year']);
    expect(named('removed')).toEqual(['reply.book.name']);
    expect(changesBetween(operations, '2.2', '2.2')).toEqual([]);
  });

  it('list themselves with their windows', () => {
    expect(coverage(operations).find(({ action }) => action === 'burn')).toMatchObject({
      windows: [{ since: '2.5', until: undefined }],
    });
  });
});
