import { since, until } from '@apistrata/microversion';
import { object, one, query } from '@apistrata/microversion/schema';
import { field, operationsOf, view } from '@apistrata/microversion-router';
import { z } from 'zod';

interface Book {
  readonly id: number;
  readonly title: string;
  readonly shelf: string;
}

export interface BookCall {
  readonly books: Book[];
}

const operation = operationsOf<BookCall>();

const book = view<Book, BookCall>({
  id: field(z.int().describe('Number of the book, given by the library'), ({ id }) => id),
  name: until(
    '1.4',
    field(z.string(), ({ title }) => title),
  ),
  title: since(
    '1.5',
    field(z.string(), ({ title }) => title),
  ),
  shelf: since(
    '1.8',
    field(z.string().describe('Where it stands'), ({ shelf }) => shelf),
  ),
});

/** A small API with a history. */
export const bookOperations = [
  operation({
    method: 'GET',
    path: '/books',
    summary: 'List books',
    status: 200,
    query: query({ title: since('1.5', one(z.string())) }),
    reply: { books: [book] },
    run: ({ books, query: { title } }) => ({ books: books.filter((each) => !title || each.title.includes(title)) }),
  }),
  operation({
    method: 'POST',
    path: '/books',
    summary: 'Add a book',
    description: 'Adds a book to the library.',
    policy: 'books:create',
    status: [until('1.2', 200), since('1.3', 201)],
    errors: [400],
    when: { 400: 'The title is longer than a spine' },
    body: object({
      book: object({
        name: until('1.4', z.string().max(20)),
        title: since('1.5', z.string().min(1).max(40).describe('What is on its spine, as in `Ships`')),
        shelf: since('1.8', z.enum(['A', 'B']).default('A')),
      }),
    }),
    reply: { book },
    run: ({ books, body }) => {
      const title = body.book.title ?? body.book.name ?? '';
      const added = { id: books.length + 1, title, shelf: body.book.shelf ?? 'A' };
      books.push(added);
      return { book: added };
    },
  }),
  operation({
    method: 'DELETE',
    path: '/books/{id}',
    summary: 'Remove a book <for good>',
    window: until('1.6', true),
    parameters: { id: 'Number of the book' },
    status: 204,
    errors: [404],
    run: () => undefined,
  }),
];

export const bookHistory = {
  '1.5': 'Books have titles: name was taken for the name of the author.',
  '1.7': 'Books are no longer removed, because readers cite them.',
};
