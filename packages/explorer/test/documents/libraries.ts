/** A shared schema that refers to itself. */
const shelf = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, inside: { $ref: '#/components/schemas/Shelf' } },
};

const book = {
  type: 'object',
  required: ['id', 'title'],
  properties: {
    id: { type: 'string', format: 'uuid', readOnly: true },
    title: {
      type: 'string',
      maxLength: 40,
      description: 'What is on its <b>spine</b>, see [books](https://example.com).',
    },
    state: { type: 'string', enum: ['lent', 'present'] },
    shelf: { $ref: '#/components/schemas/Shelf' },
  },
};

const response = (schema: object, description = 'Success') => ({
  description,
  content: { 'application/json': { schema } },
});
const idOfPath = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Number of the book',
  schema: { type: 'string' },
};
const one = { $ref: '#/components/schemas/Book' };

/** An OpenAPI 3.0 document with references, a path-level parameter, `allOf`, `nullable` and a recursive schema. */
export const library = {
  openapi: '3.0.3',
  info: { title: 'Library', version: '1.0.0', description: 'Books and **shelves**.' },
  servers: [{ url: 'https://library.example.com/v1' }],
  tags: [{ name: 'books', description: 'What can be read.' }],
  paths: {
    '/v1/books': {
      get: {
        operationId: 'books/list',
        tags: ['books'],
        summary: 'List books',
        parameters: [
          { $ref: '#/components/parameters/Limit' },
          { name: 'old', in: 'query', schema: { type: 'boolean' } },
          { name: 'Accept', in: 'header', schema: { type: 'string' } },
        ],
        responses: { 200: response({ type: 'array', items: one }), 404: { $ref: '#/components/responses/Missing' } },
      },
      post: {
        tags: ['books'],
        summary: 'Add a book',
        requestBody: { required: true, content: { 'application/json': { schema: one } } },
        responses: { 201: response(one) },
      },
    },
    '/v1/books/{id}': {
      parameters: [idOfPath],
      get: {
        tags: ['books'],
        summary: 'Show a book',
        responses: { 200: { ...response(one), headers: { ETag: { schema: { type: 'string' } } } } },
      },
      delete: { summary: 'Remove a book', responses: { 204: { description: 'Removed' } } },
    },
    '/v1/loans': {
      post: {
        summary: 'Lend a book',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['book'],
                properties: { book: { type: 'string', example: 'a1' }, days: { type: 'integer', nullable: true } },
              },
            },
          },
        },
        responses: { default: { description: 'Always' } },
      },
    },
  },
  components: {
    parameters: {
      Limit: { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100, exclusiveMaximum: true } },
    },
    responses: { Missing: response({ type: 'object', properties: { message: { type: 'string' } } }, 'There is none') },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Shelf: shelf,
      Book: { allOf: [book, { type: 'object', properties: { pages: { type: 'integer' } } }] },
    },
  },
} as const;

type Changed = { [name: string]: any };

/** Returns a copy of the document after a change. */
export function libraryWith(version: string, change: (document: Changed) => void): Changed {
  const copy = structuredClone(library) as Changed;
  copy.info.version = version;
  change(copy);
  return copy;
}

/** The second version, in OpenAPI 3.1. An operation, a parameter, a field, a status and an enum value are different. */
export const secondLibrary = libraryWith('1.1.0', (document) => {
  document.openapi = '3.1.0';
  const { paths, components } = document;
  // This counts as the same path, because the names of path parameters are irrelevant to clients.
  paths['/v1/books/{book}'] = paths['/v1/books/{id}'];
  delete paths['/v1/books/{id}'];
  paths['/v1/books/{book}'].parameters = [{ ...idOfPath, name: 'book' }];
  delete paths['/v1/books/{book}'].delete;
  paths['/v1/books'].get.parameters.splice(1, 1);
  paths['/v1/books'].post.responses = { 202: response(one) };
  const [inner] = components.schemas.Book.allOf;
  inner.properties.state.enum = ['lent', 'present', 'lost'];
  inner.properties.isbn = { type: ['string', 'null'] };
  inner.required.push('isbn');
  components.schemas.Shelf.properties.color = { type: 'string' };
});
