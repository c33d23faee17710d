import { since, Version } from '@apistrata/microversion';
import { described, type Infer, object, one, query } from '@apistrata/microversion/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  field,
  nestedList,
  type OperationShape,
  openApi,
  operationShape,
  operationsOf,
  type ReplyValue,
  view,
} from '../../src/index.js';

interface Book {
  readonly title: string;
  readonly year: number;
  readonly chapters: readonly string[];
}

const chapter = view<string>({
  name: described(
    'Name of the chapter.',
    field(z.string(), (name) => name),
  ),
});
const book = view<Book>({
  title: described(
    'Title of the book.',
    field(z.string(), ({ title }) => title),
  ),
  year: since(
    '1.2',
    described(
      'Year of publication.',
      field(z.int().nullable(), ({ year }) => year),
    ),
  ),
  chapters: described(
    'The chapters.',
    nestedList(chapter, ({ chapters }) => chapters),
  ),
});
const body = object({
  book: described(
    'The book to add.',
    object({ title: described('Title, at most 20 characters.', z.string().max(20)), year: z.int().optional() }),
  ),
});
const reply = { book: described('The added book.', book), others: described('Similar books.', [book]) } as const;
const operation = operationsOf<object>()({
  method: 'POST',
  path: '/books',
  summary: 'Add a book',
  status: 200,
  query: query({
    notify: described('Whether to notify readers.', one(z.string())),
    shelf: since('1.2', one(z.string())),
  }),
  body,
  reply,
  run: () => ({ book: { title: 'Emma', year: 1815, chapters: [] }, others: [] }),
});

const descriptionsAt = (version: string) =>
  Object.fromEntries(
    [...(operationShape(operation, Version.of(version))?.parts.values() ?? [])].flatMap(({ name, rules }) =>
      rules.description === undefined ? [] : [[name, rules.description]],
    ),
  );

describe('described()', () => {
  it('adds descriptions to fields, parameters, views and lists of documents', () => {
    const first = {
      'query.notify': 'Whether to notify readers.',
      'body.book': 'The book to add.',
      'body.book.title': 'Title, at most 20 characters.',
      'reply.book': 'The added book.',
      'reply.book.title': 'Title of the book.',
      'reply.book.chapters': 'The chapters.',
      'reply.book.chapters[].name': 'Name of the chapter.',
      'reply.others': 'Similar books.',
      'reply.others[].title': 'Title of the book.',
      'reply.others[].chapters': 'The chapters.',
      'reply.others[].chapters[].name': 'Name of the chapter.',
    };
    expect(descriptionsAt('1.1')).toEqual(first);
    const years = { 'reply.book.year': 'Year of publication.', 'reply.others[].year': 'Year of publication.' };
    expect(descriptionsAt('1.2')).toEqual({ ...first, ...years });
  });

  it('is the last key of a schema, wherever it was added', () => {
    const shape = operationShape(operation, Version.of('1.2')) as any;
    const { book: shown, others } = shape.reply.properties;
    const last = (value: any) => Object.keys(value).at(-1);
    expect([shown, others, shown.properties.year, shape.body.properties.book].map(last)).toEqual(
      Array.from({ length: 4 }, () => 'description'),
    );
  });

  it('describes a field that several alternatives have', () => {
    const alternative = (title: z.ZodType) => z.strictObject({ title: title.describe('Title, or its number.') });
    const either = operationsOf<unknown>()({
      method: 'POST',
      path: '/either',
      summary: 'Add a book',
      status: 201,
      body: object({ book: z.union([alternative(z.string()), alternative(z.int())]) }),
      run: () => undefined,
    });
    const { parts } = operationShape(either, Version.of('1.1')) as OperationShape;
    expect(parts.get('body.book.title')?.rules.description).toBe('Title, or its number.');
  });

  it('describes query parameters of OpenAPI documents', () => {
    const { paths } = openApi([operation], { title: 'Books', version: '1.2' }) as any;
    expect(paths['/books'].post.parameters).toContainEqual({
      name: 'notify',
      in: 'query',
      required: false,
      description: 'Whether to notify readers.',
      schema: { type: 'array', items: { type: 'string' } },
    });
  });

  it('changes neither validation nor types', () => {
    const { success } = body.check(Version.of('1.1')).safeParse({ book: { title: 'a'.repeat(21) } });
    expect(success).toBe(false);
    expect(body.check(Version.of('1.1')).safeParse({ book: { title: 'Emma' } })).toMatchObject({ success: true });
    expectTypeOf<Infer<typeof body>>().toEqualTypeOf<{
      readonly book: { readonly title: string; readonly year?: number | undefined };
    }>();
    expectTypeOf<ReplyValue<typeof reply>['book']>().toEqualTypeOf<Book>();
    expectTypeOf<ReplyValue<typeof reply>['others']>().toEqualTypeOf<readonly Book[]>();
    const year = ({ year }: Book) => year;
    // @ts-expect-error a number is not a title
    view<Book>({ title: described('Title of the book.', field(z.string(), year)) });
  });

  it('keeps breakpoints within described schemas', () => {
    expect(book.breakpoints.map(String)).toEqual(['1.2']);
    const outer = object({
      inner: described('Inner object.', object({ since3: since('1.3', z.string().optional()) })),
    });
    expect(outer.breakpoints.map(String)).toEqual(['1.3']);
  });
});
