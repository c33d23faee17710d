import { between, since, until } from '@apistrata/microversion';
import { object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { field, nestedList, operationsOf, prepareResponse, view } from '../../src/index.js';

export interface Book {
  readonly id: string;
  readonly title: string;
  readonly year: number;
  readonly lent: readonly { readonly by: string; readonly until: string }[];
}

export interface Shelf {
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
  { cacheKey: (shelf) => shelf.reader },
);

export const operation = operationsOf<Shelf>();

const find = ({ books, params }: Shelf & { params: { id: string } }) => {
  const found = books.get(params.id);
  if (!found) throw Object.assign(new Error('unknown book'), { status: 404 });
  return found;
};

export const operations = [
  operation({
    method: 'GET',
    path: '/books',
    summary: 'List books',
    status: 200,
    query: query(
      { limit: one(z.string().regex(/^\d+$/).transform(Number)) },
      { extra: [until('2.4', 'ignore'), since('2.5', 'reject')] },
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
      return prepareResponse({ body: { book: added }, headers: { Location: `/books/${added.id}` } });
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
