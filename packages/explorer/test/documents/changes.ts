/**
 * A change to the document `library`, and the finding that `check` must report; undefined if the change is compatible.
 */
type Change = [title: string, change: (document: any) => unknown, finding: string | undefined];

/** Changes of each kind that the guide lists. */
export const changes: readonly Change[] = [
  ['an operation is removed', (d) => delete d.paths['/v1/books/{id}'].delete, 'removed'],
  [
    'an operation is added',
    (d) => (d.paths['/v1/new'] = { get: { responses: { 200: { description: '' } } } }),
    undefined,
  ],
  [
    'a response field is removed',
    (d) => delete d.components.schemas.Book.allOf[0].properties.title,
    'title in the response removed: is no longer returned',
  ],
  [
    'a response field becomes optional',
    (d) => d.components.schemas.Book.allOf[0].required.pop(),
    'title in the response is optional: can be absent',
  ],
  [
    'a request field becomes required',
    (d) =>
      d.paths['/v1/loans'].post.requestBody.content['application/x-www-form-urlencoded'].schema.required.push('days'),
    'days in the request is required: is required',
  ],
  ['a request body becomes required', (d) => (d.paths['/v1/loans'].post.requestBody.required = true), 'is required'],
  ['a parameter is removed', (d) => d.paths['/v1/books'].get.parameters.splice(1, 1), 'is no longer accepted'],
  ['a parameter becomes required', (d) => (d.paths['/v1/books'].get.parameters[1].required = true), 'is required'],
  [
    'a required parameter is added',
    (d) => d.paths['/v1/books'].get.parameters.push({ name: 'new', in: 'query', required: true, schema: {} }),
    'the query parameter new added: is required',
  ],
  [
    'an optional parameter is added',
    (d) => d.paths['/v1/books'].get.parameters.push({ name: 'new', in: 'header', schema: {} }),
    undefined,
  ],
  [
    'a successful status is removed',
    (d) => (d.paths['/v1/books'].post.responses = { 202: {} }),
    'the status 201 removed',
  ],
  ['an error status is removed', (d) => delete d.paths['/v1/books'].get.responses[404], undefined],
  [
    'an enum value is added to a response field',
    (d) => d.components.schemas.Book.allOf[0].properties.state.enum.push('lost'),
    'can also be lost',
  ],
  [
    'an enum value is removed from a request field',
    (d) => d.components.schemas.Book.allOf[0].properties.state.enum.pop(),
    'no longer accepts present',
  ],
  ['a field changes its type', (d) => (d.components.schemas.Shelf.properties.id.type = 'string'), 'can also be string'],
  [
    'a maximum length is added to a request field',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.maxLength = 20),
    'no longer accepts values above maxLength 20',
  ],
  [
    'a media type of a request is removed',
    (d) => {
      const { content } = d.paths['/v1/books'].post.requestBody;
      content['application/xml'] = content['application/json'];
      delete content['application/json'];
    },
    'the request type application/json removed',
  ],
  [
    'a media type of a response is removed',
    (d) => (d.paths['/v1/books'].post.responses[201].content = {}),
    'the response type application/json removed: is no longer returned',
  ],
  [
    'a response header is removed',
    (d) => delete d.paths['/v1/books/{id}'].get.responses[200].headers,
    'the response header ETag removed: is no longer returned',
  ],
  [
    'a field of a response becomes nullable',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.nullable = true),
    'can also be null',
  ],
  [
    'the maximum length of a response field increases',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.maxLength = 80),
    'can also be values above maxLength 40',
  ],
  [
    'a pattern is added to a request field',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.pattern = '^A'),
    'no longer accepts values that do not match the pattern ^A',
  ],
  [
    'a field of a request becomes nullable',
    (d) => {
      const { schema } = d.paths['/v1/loans'].post.requestBody.content['application/x-www-form-urlencoded'];
      schema.properties.book.nullable = true;
    },
    undefined,
  ],
  [
    'a field is removed from a request',
    (d) => {
      const { schema } = d.paths['/v1/loans'].post.requestBody.content['application/x-www-form-urlencoded'];
      delete schema.properties.days;
    },
    'days in the request removed: is no longer accepted',
  ],
  [
    'a required field is added to a request',
    (d) => {
      const { schema } = d.paths['/v1/loans'].post.requestBody.content['application/x-www-form-urlencoded'];
      schema.required.push('where');
      schema.properties.where = { type: 'string' };
    },
    'where in the request added: is required',
  ],
  ['the default of a parameter changes', (d) => (d.components.parameters.Limit.schema.default = 5), undefined],
  [
    'the ID and tag of an operation change',
    (d) => Object.assign(d.paths['/v1/books'].get, { operationId: 'x', tags: ['y'] }),
    undefined,
  ],
  [
    'a path parameter is renamed',
    (d) => {
      d.paths['/v1/books/{n}'] = {
        ...d.paths['/v1/books/{id}'],
        parameters: [{ name: 'n', in: 'path', required: true, schema: { type: 'string' } }],
      };
      delete d.paths['/v1/books/{id}'];
    },
    undefined,
  ],
  ['a description changes', (d) => (d.paths['/v1/books'].get.description = 'Other words'), undefined],
  [
    'a deeply nested shared schema changes',
    (d) => delete d.components.schemas.Shelf.properties.inside,
    'inside in the response removed',
  ],
  ['an operation is deprecated', (d) => (d.paths['/v1/books/{id}'].delete.deprecated = true), undefined],
  [
    'an operation requires authentication',
    (d) => {
      d.components.securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
      d.paths['/v1/books'].get.security = [{ key: [] }];
    },
    undefined,
  ],
  ['a shared schema that no operation uses is removed', (d) => delete d.components.schemas.Unused, undefined],
];
