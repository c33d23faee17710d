import { since, until } from '@apistrata/microversion';
import { many, object, once, one, type Query, query } from '@apistrata/microversion/schema';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { field, operationsOf, prepareResponse, type ReplyValue, view } from '../src/index.js';

interface Book {
  readonly id: string;
  readonly year: number;
}

interface Call {
  readonly reader: string;
}

interface WithShelves extends Call {
  readonly loaded: ReadonlyMap<string, number>;
}

const operation = operationsOf<Call>();
const base = { method: 'GET', path: '/books/{id}', summary: 'Show a book', status: 200 } as const;

const book = view<Book, Call>({ id: field(z.string(), (b) => b.id) });
const placed = view<Book, WithShelves>({ shelf: field(z.int(), (b, { loaded }) => loaded.get(b.id) ?? 0) });

describe('the types of an operation', () => {
  it('pass the results of earlier stages to its handler', () => {
    operation({
      ...base,
      path: '/shelves/{shelf}/books/{id}',
      query: query({ limit: one(z.string().transform(Number)) }),
      body: object({ title: z.string(), year: since('2.5', z.int().optional()) }),
      target: ({ params, body, query: { limit } }) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly shelf: string } & { readonly id: string }>();
        expectTypeOf(body.title).toEqualTypeOf<string>();
        expectTypeOf(limit).toEqualTypeOf<number | undefined>();
        return { id: params.id, year: 1 };
      },
      load: ({ target }) => {
        expectTypeOf(target).toEqualTypeOf<{ id: string; year: number }>();
        return Promise.resolve('loaded' as const);
      },
      run: ({ reader, target, loaded, body }) => {
        expectTypeOf(reader).toEqualTypeOf<string>();
        expectTypeOf(target).toEqualTypeOf<{ id: string; year: number }>();
        expectTypeOf(loaded).toEqualTypeOf<'loaded'>();
        expectTypeOf(body.year).toEqualTypeOf<number | undefined>();
      },
    });
  });

  it('check the result of the handler against the reply', () => {
    operation({ ...base, reply: { book }, run: () => ({ book: { id: '1', year: 1 } }) });
    operation({ ...base, reply: { book }, run: () => prepareResponse({ status: 300 }) });
    // @ts-expect-error a record of another kind
    operation({ ...base, reply: { book }, run: () => ({ book: { title: 'Emma' } }) });
    // @ts-expect-error the book is missing
    operation({ ...base, reply: { book }, run: () => ({}) });
    // @ts-expect-error unknown parameter of the path
    operation({ ...base, run: ({ params }) => params.isbn });
    // @ts-expect-error the target does not exist without `target`
    operation({ ...base, run: ({ target }) => target.id });
    // @ts-expect-error unknown method
    operation({ ...base, method: 'FETCH', run: () => undefined });
  });

  it('reject views whose call type differs from that of the operation', () => {
    const run = () => ({ book: { id: '1', year: 1 } });
    operation({ ...base, reply: { book: placed }, load: () => new Map<string, number>(), run });
    // @ts-expect-error the data that the view requires is not loaded
    operation({ ...base, reply: { book: placed }, run });
    // @ts-expect-error something else is loaded
    operation({ ...base, reply: { book: placed }, load: () => new Map<string, string>(), run });
    // @ts-expect-error not in a list either
    operation({ ...base, reply: { books: [placed] }, run: () => ({ books: [] }) });
  });
});

describe('the names of policies', () => {
  it('equal the policies of the API', () => {
    const guarded = operationsOf<Call, 'books:show' | 'books:lend'>();
    guarded({ ...base, policy: 'books:show', run: () => undefined });
    guarded({ ...base, policy: ['books:show', 'books:lend'], run: () => undefined });
    // @ts-expect-error unknown rule
    guarded({ ...base, policy: 'books:shwo', run: () => undefined });
  });
});

describe('additional properties of operations', () => {
  it('are required if the API requires them', () => {
    const described = operationsOf<Call, string, { readonly name: string; readonly description: string }>();
    const run = () => undefined;
    const texts = { name: 'showBook', description: 'Shows a book.' };
    described({ ...base, ...texts, parameters: { id: 'ID of the book.' }, run });
    described({ ...base, ...texts, path: '/books', run });
    // @ts-expect-error the description is missing
    described({ ...base, name: 'listBooks', path: '/books', run });
    // @ts-expect-error the parameter of the path is not described
    described({ ...base, ...texts, run });
    // @ts-expect-error one of two parameters of the path is not described
    described({ ...base, ...texts, path: '/shelves/{shelf}/books/{id}', parameters: { id: 'ID of the book.' }, run });
  });

  it('are optional otherwise', () => {
    operation({ ...base, run: () => undefined });
  });
});

describe('the type of a reply', () => {
  it('accepts records in place of views, and plain values in place of schemas', () => {
    const reply = {
      book,
      books: [book],
      total: z.int(),
      links: since('2.5', z.array(z.string()).optional()),
      note: [until('2.2', z.string()), since('2.3', z.string())],
    } as const;
    expectTypeOf<ReplyValue<typeof reply>['book']>().toEqualTypeOf<Book>();
    expectTypeOf<ReplyValue<typeof reply>['books']>().toEqualTypeOf<readonly Book[]>();
    expectTypeOf<ReplyValue<typeof reply>['total']>().toEqualTypeOf<number>();
    expectTypeOf<ReplyValue<typeof reply>['links']>().toEqualTypeOf<string[] | undefined>();
    expectTypeOf<ReplyValue<typeof reply>['note']>().toEqualTypeOf<string>();
    expectTypeOf<{ book: Book; books: []; total: 0; note: '' }>().toExtend<ReplyValue<typeof reply>>();
  });
});

describe('the types of a view', () => {
  it('check getters against the record, the call and the schema', () => {
    view<Book, Call>({ mine: field(z.string(), (b, call) => `${b.id} ${call.reader}`) });
    // @ts-expect-error unknown field of a book
    view<Book, Call>({ isbn: field(z.string(), (b) => b.isbn) });
    // @ts-expect-error unknown field of the call
    view<Book, Call>({ by: field(z.string(), (_, call) => call.writer) });
    // @ts-expect-error a number is not a string
    view<Book, Call>({ year: field(z.string(), (b: Book) => b.year) });
    // @ts-expect-error the key of cached texts is a string
    view<Book, Call>({ id: field(z.string(), (b) => b.id) }, { cacheKey: () => 1 });
  });
});

describe('the types of a query', () => {
  it('match its parameters, which are all optional', () => {
    const spec = query({
      limit: one(z.string().transform(Number)),
      tag: many(z.string()),
      marker: since('2.5', once(z.string())),
      sort: [until('2.2', one(z.enum(['id']))), since('2.3', one(z.enum(['id', 'year'])))],
    });
    type Parsed = typeof spec extends Query<infer T> ? T : never;
    expectTypeOf<Parsed['limit']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Parsed['tag']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<Parsed['marker']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Parsed['sort']>().toEqualTypeOf<'id' | 'year' | undefined>();
    // @ts-expect-error parameters must define how often they may occur
    query({ limit: z.string() });
  });
});
