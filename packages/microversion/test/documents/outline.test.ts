import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApi } from '../../src/documents/openapi.js';
import { operationShape } from '../../src/documents/operation-shape.js';
import { operationsOf } from '../../src/router/operation.js';
import { field, view } from '../../src/router/view.js';
import { object, one, query } from '../../src/schema/index.js';
import { Version } from '../../src/version.js';
import { since } from '../../src/windowed.js';

interface Book {
  readonly title: string;
}

const book = view<Book>({
  title: field(z.string().describe('As printed'), ({ title }) => title),
  isbn: since(
    '1.2',
    field(z.string().nullable(), () => null),
  ),
});

const operation = operationsOf<unknown>();
const requested: string[] = [];
const createBooks = operation({
  method: 'POST',
  path: '/books',
  summary: 'Add books',
  status: 201,
  query: query({ shelf: one(z.string()) }),
  body: object({ book: z.union([z.strictObject({ title: z.string() }), z.strictObject({ title: z.int() })]) }),
  reply: { books: [book] },
  describePart: (part) => {
    requested.push(part);
    return part.endsWith('title') || part.endsWith('isbn') || part === 'query.shelf' ? `words for ${part}` : undefined;
  },
  run: () => ({ books: [] }),
});

describe('separate descriptions', () => {
  it('are not requested before a document is generated', () => {
    expect(requested).toEqual([]);
  });

  it('describe existing parts whose schemas have no description', () => {
    const wordsAt = (version: string) =>
      Object.fromEntries(
        [...operationShape(createBooks, Version.of(version))!.parts.values()].flatMap(({ name, rules }) =>
          rules.description === undefined ? [] : [[name, rules.description]],
        ),
      );
    const always = {
      'query.shelf': 'words for query.shelf',
      'body.book.title': 'words for body.book.title',
      'reply.books[].title': 'As printed',
    };
    expect(wordsAt('1.1')).toEqual(always);
    expect(wordsAt('1.2')).toEqual({ ...always, 'reply.books[].isbn': 'words for reply.books[].isbn' });
  });

  it('are in the OpenAPI document', () => {
    const document = JSON.stringify(openApi([createBooks], { title: 'Books', version: '1.2' }));
    for (const part of ['query.shelf', 'body.book.title', 'reply.books[].isbn'])
      expect(document).toContain(`"description":"words for ${part}`);
  });
});
