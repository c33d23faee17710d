import { Version } from '@apistrata/microversion';
import { type OperationChange, operationShape } from '@apistrata/microversion-router';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../../testing/send-request.js';
import { documentedApi, explorer } from '../../src/index.js';
import { apiChanges } from '../../src/model/api-changes.js';
import { library, libraryWith, secondLibrary } from './libraries.js';

const api = documentedApi([{ document: secondLibrary }, { document: library }]);
const pages = explorer({ ...api, path: '/docs' });
const page = async (path: string) => (await sendRequest(pages, { path: `/docs${path}` })).body;

function named(name: string) {
  const found = api.operations.find((operation) => operation.name === name);
  if (!found) throw new Error(`There is no ${name}: ${api.operations.map((operation) => operation.name)}`);
  return found;
}

const partsOf = (name: string, version: string) =>
  operationShape(named(name), Version.of(version))?.parts ?? new Map<string, never>();

const rulesOf = (name: string, version: string, part: string) => partsOf(name, version).get(part);

function changeOf(changes: readonly OperationChange[], name: string) {
  const found = changes.find((change) => change.name === name);
  return found?.parts.map(({ name: part, change, breaking }) => `${part} ${change}${breaking ? `: ${breaking}` : ''}`);
}

describe('documentedApi()', () => {
  it('orders documents by their versions and names operations', () => {
    expect(api.versions?.map(String)).toEqual(['1.0.0', '1.1.0']);
    expect(api).toMatchObject({ title: 'Library', server: 'https://library.example.com/v1' });
    expect(api.operations.map(({ name }) => name)).toEqual([
      'books-list',
      'post-v1-books',
      'get-v1-books-book',
      'delete-v1-books-id',
      'post-v1-loans',
      'schema-Shelf',
    ]);
  });

  it('resolves references, allOf, nullable, parameters of paths and bounds of OpenAPI 3.0', () => {
    expect(rulesOf('books-list', '1.0.0', 'query.limit')).toMatchObject({ rules: { exclusiveMaximum: 100 } });
    expect(rulesOf('books-list', '1.0.0', 'reply[].title')).toMatchObject({
      required: true,
      rules: { maxLength: 40, description: 'What is on its spine, see books.' },
    });
    expect(rulesOf('post-v1-books', '1.0.0', 'body.pages')).toMatchObject({ rules: { type: 'integer' } });
    expect(rulesOf('get-v1-books-book', '1.0.0', 'path.book')).toMatchObject({ required: true });
    expect(rulesOf('post-v1-loans', '1.0.0', 'body.days')).toMatchObject({ rules: { type: ['integer', 'null'] } });
    expect(rulesOf('books-list', '1.0.0', 'errors.404.message')).toMatchObject({ rules: { type: 'string' } });
  });

  it('omits fields of the other direction, and headers that OpenAPI ignores', () => {
    expect(partsOf('post-v1-books', '1.0.0').has('body.id')).toBe(false);
    expect(partsOf('post-v1-books', '1.0.0').has('reply.id')).toBe(true);
    expect([...partsOf('books-list', '1.0.0').keys()].filter((name) => name.startsWith('header.'))).toEqual([]);
  });

  it('uses a description of one sentence as the title of an operation without a summary', () => {
    const get = (description: string) => ({ get: { description, responses: { 200: { description: 'Success' } } } });
    const paths = {
      '/version/': get('get the version information for this server.'),
      '/logs/': get('Returns lines of the log. The newest line is the last one.'),
    };
    const document = { openapi: '3.0.0', info: { title: 'Cluster', version: '1.33' }, paths };
    expect(documentedApi([{ document }]).operations.map(({ summary }) => summary)).toEqual([
      'Get the version information for this server',
      'GET /logs/',
    ]);
  });

  it('ends recursive schemas with a link to the page of the schema', () => {
    expect(rulesOf('books-list', '1.0.0', 'reply[].shelf.inside')).toMatchObject({ reference: 'Shelf' });
    expect(rulesOf('schema-Shelf', '1.1.0', 'reply.inside.color')).toBeDefined();
  });

  it('computes the history by comparing consecutive documents', () => {
    const changes = apiChanges(api.operations, '1.0.0', '1.1.0');
    expect(changeOf(changes, 'books-list')).toEqual([
      'query.old removed: is no longer accepted',
      'reply[].state altered: can also be lost',
      'reply[].shelf.color added',
      'reply[].isbn added',
    ]);
    expect(changeOf(changes, 'post-v1-books')?.sort()).toEqual([
      'body.isbn added: is required',
      'body.shelf.color added',
      'body.state altered',
      'reply.isbn added',
      'reply.shelf.color added',
      'reply.state altered: can also be lost',
      'statuses.201 removed: is no longer returned',
      'statuses.202 added',
    ]);
    expect(changes.find(({ name }) => name === 'delete-v1-books-id')).toMatchObject({
      change: 'removed',
      breaking: true,
    });
    expect(changeOf(changes, 'get-v1-books-book')).not.toContainEqual(expect.stringMatching(/^path/));
    expect(changeOf(changes, 'schema-Shelf')).toContain('reply.color added');
  });

  it('shows an operation that a later document contains again', () => {
    const third = libraryWith('1.2.0', () => {});
    const { operations } = documentedApi([library, secondLibrary, third].map((document) => ({ document })));
    const removal = operations.find(({ name }) => name === 'delete-v1-books-id');
    const exists = ['1.0.0', '1.1.0', '1.2.0'].map(
      (version) => removal && operationShape(removal, Version.of(version)) !== undefined,
    );
    expect(exists).toEqual([true, false, true]);
  });

  it.each([
    ['a Swagger document', [{ swagger: '2.0', paths: {} }], /Swagger 2\.0 document: convert it to OpenAPI 3/],
    ['something else', [{ hello: 1 }], /document 1 is not an OpenAPI document: it has no field "openapi"/],
    ['a later version', [{ openapi: '4.0.0', paths: {} }], /unsupported OpenAPI version "4\.0\.0"/],
    ['no operations', [{ openapi: '3.1.0', info: {} }], /has no field "paths"/],
    ['no document', [], /At least one OpenAPI document/],
    [
      'the same version twice',
      [library, library],
      /document 1 and document 2 have the same version 1\.0\.0: name them/,
    ],
    [
      'a version without order',
      [libraryWith('beta', () => {})],
      /has the version "beta".*name it, as in 2026-01-31=document 1/,
    ],
    ['versions of two forms', [library, libraryWith('2026-01-31', () => {})], /cannot be compared/],
    [
      'a reference to nothing',
      [libraryWith('2.0.0', (d) => delete d.components.parameters)],
      /"#\/components\/parameters\/Limit" points to a value that does not exist/,
    ],
    [
      'a reference to a file',
      [libraryWith('2.0.0', (d) => (d.paths['/v1/loans'].post.requestBody = { $ref: 'a.yaml' }))],
      /"a\.yaml" points outside/,
    ],
  ])('rejects %s', (_, documents, message) => {
    const read = () => {
      const { operations, versions = [] } = documentedApi(documents.map((document) => ({ document })));
      for (const operation of operations)
        for (const version of versions) operationShape(operation, Version.of(version));
    };
    expect(read).toThrow(
      expect.objectContaining({ code: 'OPENAPI_DOCUMENT', message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ['v1.2.3', '1.2.3'],
    ['2026-07-29.dahlia', '2026-07-29'],
    ['7', '7'],
  ])('reads the version %s as %s', (written, version) => {
    expect(documentedApi([{ document: libraryWith(written, () => {}) }]).versions?.map(String)).toEqual([version]);
  });
});

describe('the pages of OpenAPI documents', () => {
  it('show the newest version and others', async () => {
    expect(await page('/')).toContain('<h1>Library 1.1.0</h1>');
    expect(await page('/')).toContain('Books and shelves.');
    expect(await page('/?version=1.0.0')).toContain('/v1/books/{id}');
    expect(await page('/')).not.toContain('schema-Shelf');
  });

  it('show the windows of fields, parameters and statuses', async () => {
    const list = await page('/operations/books-list');
    expect(list).toMatch(/id="reply\[\]\.isbn"[\s\S]*?since 1\.1\.0/);
    expect(list).toMatch(/id="query\.old" class="gone"[\s\S]*?until 1\.0\.0/);
    expect(list).toContain('id="errors.404.message"');
    expect(list).toContain('Bearer $TOKEN');
    expect(await page('/operations/delete-v1-books-id')).toContain('does not have this operation');
  });

  it('link shared schemas to their pages', async () => {
    expect(await page('/operations/books-list')).toContain('href="/docs/operations/schema-Shelf">Shelf</a>');
    const shelf = await page('/operations/schema-Shelf');
    expect(shelf).toContain('In responses');
    expect(shelf).not.toContain('id="statuses"');
    expect(shelf).not.toContain('data-try');
  });

  it('send forms as forms, without a JSON editor for them', async () => {
    const loan = await page('/operations/post-v1-loans');
    expect(loan).toContain('application/x-www-form-urlencoded');
    expect(loan).toContain('book=a1');
    expect(loan).not.toContain('data-try');
    expect(await page('/operations/post-v1-books')).toContain('data-try');
  });

  it('serve the original documents', async () => {
    expect(JSON.parse(await page('/openapi.json?version=1.0.0'))).toEqual(JSON.parse(JSON.stringify(library)));
  });

  it('find fields and schemas', async () => {
    expect(await page('/search?q=isbn')).toContain('/operations/books-list#reply%5B%5D.isbn');
    expect(await page('/search?q=shelf')).toContain('/operations/schema-Shelf');
  });
});
