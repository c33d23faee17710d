import { between, since, until } from '@apistrata/microversion';
import { object, one, query } from '@apistrata/microversion/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApi } from '../../src/documents/openapi.js';
import { operationsOf } from '../../src/router/operation.js';
import { field, view } from '../../src/router/view.js';

interface Book {
  readonly title: string;
}

const text = field(z.string().describe('A string.'), ({ title }: Book) => title);
const book = view<Book>({
  title: text,
  isbn: since('1.2', text),
  shelf: until(
    '1.3',
    field(z.strictObject({ row: z.string(), column: z.string() }), () => ({ row: '', column: '' })),
  ),
  lent: between('1.2', '1.3', text),
});

const operation = operationsOf<unknown>();
const shared = { method: 'POST', summary: 'Add a book', status: 201, run: () => ({ book: { title: '' } }) } as const;
const addBook = operation({
  ...shared,
  path: '/books',
  description: 'Adds a book.',
  policy: 'books:create',
  query: query({ author: since('1.4', one(z.string().describe('Filters by author.'))) }),
  body: object({ title: z.string(), tags: since('1.2', z.array(z.string()).describe('Tags').optional()) }),
  reply: { book },
});
const first = operation({ ...shared, path: '/first', window: until('1.2', true), reply: { book } });
const second = operation({ ...shared, path: '/first', window: since('1.3', true), reply: { book } });
const late = operation({ ...shared, path: '/late', window: since('1.2', true), reply: { book } });

const at = (version: string) =>
  (openApi([addBook, first, second, late], { title: 'Books', version }) as any).paths as Record<string, any>;
const fieldsAt = (version: string, path = '/books') =>
  at(version)[path].post.responses['201'].content['application/json'].schema.properties.book.properties;

describe('notes on windows', () => {
  it('name the first version of a field and the version that removed it', () => {
    expect(fieldsAt('1.2').isbn.description).toBe('A string. New in 1.2.');
    expect(fieldsAt('1.3').lent.description).toBe('A string. New in 1.2. Removed in 1.4.');
    expect(fieldsAt('1.1').shelf.description).toBe('Removed in 1.4.');
    expect(fieldsAt('1.4').title.description).toBe('A string.');
  });

  it('are not repeated for the parts of a field with a window', () => {
    expect(fieldsAt('1.1').shelf.properties.row.description).toBeUndefined();
  });

  it('complete the descriptions of query parameters and request fields', () => {
    const { parameters, requestBody } = at('1.4')['/books'].post;
    expect(parameters[0].description).toBe('Filters by author. New in 1.4.');
    const { tags, title } = requestBody.content['application/json'].schema.properties;
    expect(tags.description).toBe('Tags. New in 1.2.');
    expect(title.description).toBeUndefined();
  });

  it('describe an operation, and its fields only where they differ', () => {
    expect(at('1.2')['/late'].post.description).toBe('New in 1.2.');
    expect(fieldsAt('1.2', '/late').isbn.description).toBe('A string.');
    expect(at('1.4')['/books'].post.description).toBe('Adds a book.\n\nPolicy: `books:create`.');
  });

  it('treat successive operations under one key as one', () => {
    expect(at('1.1')['/first'].post.description).toBeUndefined();
    expect(at('1.4')['/first'].post.description).toBeUndefined();
    expect(fieldsAt('1.4', '/first').isbn.description).toBe('A string. New in 1.2.');
  });
});
