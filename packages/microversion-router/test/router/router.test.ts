import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Version } from '@apistrata/microversion';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRouter } from '../../src/index.js';
import { type Book, operations, type Shelf } from './books.js';

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
  it('respond with the status and the fields of the version', async () => {
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

  it('select actions by the only key of the body', async () => {
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
  ])('reject %s as an action', async (_, body, status, code) => {
    const responded = await at('2.4').post('/books/1/action', body);
    expect([responded.status, responded.body.code]).toEqual([status, code]);
  });

  it('exist in their window only', async () => {
    expect((await at('2.1').delete('/books/1')).body.code).toBe('NOT_IN_VERSION');
    expect((await at('2.4').delete('/books/1')).body.code).toBe('NOT_IN_VERSION');
    expect((await at('2.3').delete('/books/9')).body.message).toBe('unknown book');
  });

  it('return 404 for other methods, trailing slashes and unknown paths', async () => {
    for (const path of ['/books/', '/book', '/books/1/2', '/%'])
      expect((await at('2.1').get(path)).body.code).toBe('NO_ROUTE');
    expect((await at('2.1').delete('/books')).body.code).toBe('NO_ROUTE');
  });

  it('reject other media types, malformed JSON, large and missing bodies', async () => {
    const post = (type: string, text: string) => request(server).post('/books').set('Content-Type', type).send(text);
    expect((await post('application/xml', '<a/>')).status).toBe(415);
    expect((await post('application/json', '{"book":')).body.code).toBe('MALFORMED_BODY');
    expect((await post('application/json', `"${'x'.repeat(2000)}"`)).status).toBe(413);
    expect((await post('text/plain', '{"book":{"title":"T"}}')).status).toBe(200);
    expect((await request(server).post('/books')).body.code).toBe('INVALID_BODY');
  });

  it('load the object before the policy check, and check for a body before both', async () => {
    denied.add('books:lend');
    expect((await at('2.1').post('/books/77/action', { lend: 1 })).status).toBe(400);
    expect((await at('2.1').post('/books/77/action', { lend: { to: 'x' } })).status).toBe(404);
    expect((await at('2.1').post('/books/1/action', { lend: { to: 'x' } })).status).toBe(403);
    denied.clear();
  });

  it('reject unknown query parameters at versions that reject them', async () => {
    expect((await at('2.4').get('/books?x=1')).status).toBe(200);
    expect((await at('2.5').get('/books?x=1')).body.code).toBe('INVALID_QUERY');
    expect((await at('2.5').get('/books?limit=0')).body).toEqual({ books: [] });
  });

  it('cache a rendered record for its lifetime, separately for each caller', async () => {
    const shown = await at('2.4').get('/books/1').set('x-reader', 'admin');
    expect(shown.body.book.secret).toBe('yes');
    expect((await at('2.4').get('/books/1')).body.book.secret).toBeUndefined();
    await at('2.1').post('/books/1/action', { lend: { to: 'Bob' } });
    expect((await at('2.4').get('/books/1')).body.book.loans).toHaveLength(2);
  });
});
