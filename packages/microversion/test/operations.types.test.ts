import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { since, until } from '../src/index.js';
import { answer, field, operationsOf, type ReplyValue, view } from '../src/router/index.js';
import { many, object, once, one, type Query, query } from '../src/schema/index.js';

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
  it('give its handler what the stages before it made', () => {
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

  it('hold what the handler returns against the reply', () => {
    operation({ ...base, reply: { book }, run: () => ({ book: { id: '1', year: 1 } }) });
    operation({ ...base, reply: { book }, run: () => answer({ status: 300 }) });
    // @ts-expect-error a record of another kind
    operation({ ...base, reply: { book }, run: () => ({ book: { title: 'Emma' } }) });
    // @ts-expect-error the book is missing
    operation({ ...base, reply: { book }, run: () => ({}) });
    // @ts-expect-error there is no such parameter in the path
    operation({ ...base, run: ({ params }) => params.isbn });
    // @ts-expect-error there is no target without `target`
    operation({ ...base, run: ({ target }) => target.id });
    // @ts-expect-error there is no such method
    operation({ ...base, method: 'FETCH', run: () => undefined });
  });

  it('refuse views whose call is another than that of the operation', () => {
    const run = () => ({ book: { id: '1', year: 1 } });
    operation({ ...base, reply: { book: placed }, load: () => new Map<string, number>(), run });
    // @ts-expect-error what the view asks for is not loaded
    operation({ ...base, reply: { book: placed }, run });
    // @ts-expect-error something else is loaded
    operation({ ...base, reply: { book: placed }, load: () => new Map<string, string>(), run });
    // @ts-expect-error not in a list either
    operation({ ...base, reply: { books: [placed] }, run: () => ({ books: [] }) });
  });
});

describe('the names of policies', () => {
  it('are those that the API has', () => {
    const guarded = operationsOf<Call, 'books:show' | 'books:lend'>();
    guarded({ ...base, policy: 'books:show', run: () => undefined });
    guarded({ ...base, policy: ['books:show', 'books:lend'], run: () => undefined });
    // @ts-expect-error there is no such rule
    guarded({ ...base, policy: 'books:shwo', run: () => undefined });
  });
});

describe('the type of a reply', () => {
  it('has records where the views stand, and plain values where schemas stand', () => {
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
  it('hold getters against the record, the call and the schema', () => {
    view<Book, Call>({ mine: field(z.string(), (b, call) => `${b.id} ${call.reader}`) });
    // @ts-expect-error a book has no such field
    view<Book, Call>({ isbn: field(z.string(), (b) => b.isbn) });
    // @ts-expect-error the call has no such field
    view<Book, Call>({ by: field(z.string(), (_, call) => call.writer) });
    // @ts-expect-error a number is no text
    view<Book, Call>({ year: field(z.string(), (b: Book) => b.year) });
    // @ts-expect-error the key of kept texts is a text
    view<Book, Call>({ id: field(z.string(), (b) => b.id) }, { memo: () => 1 });
  });
});

describe('the types of a query', () => {
  it('are those of its parameters, each of which may be missing', () => {
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
    // @ts-expect-error parameters say how often they may come
    query({ limit: z.string() });
  });
});
