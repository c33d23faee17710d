import { describe, expect, it } from 'vitest';
import { changelogEntry, checkAnnotations, checkText, withEntry } from '../../src/check/check-report.js';
import { checkDocuments } from '../../src/index.js';
import { library, libraryWith } from './libraries.js';

const files = { published: 'main.json', current: 'openapi.json' };

/** A change of the document, and the expected finding of a check; undefined if it is compatible. */
const changes: readonly [title: string, change: (document: any) => unknown, finding: string | undefined][] = [
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
  ['the status of an error is removed', (d) => delete d.paths['/v1/books'].get.responses[404], undefined],
  [
    'a value of a response is added',
    (d) => d.components.schemas.Book.allOf[0].properties.state.enum.push('lost'),
    'can also be lost',
  ],
  [
    'a value of a request is removed',
    (d) => d.components.schemas.Book.allOf[0].properties.state.enum.pop(),
    'no longer accepts present',
  ],
  ['a type changes', (d) => (d.components.schemas.Shelf.properties.id.type = 'string'), 'can also be string'],
  [
    'a request is limited',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.maxLength = 20),
    'no longer accepts values above maxLength 20',
  ],
  [
    'a media type is removed',
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
    'a response may be longer',
    (d) => (d.components.schemas.Book.allOf[0].properties.title.maxLength = 80),
    'can also be values above maxLength 40',
  ],
  [
    'a request must match a pattern',
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
    'an operation gets another ID and tag',
    (d) => Object.assign(d.paths['/v1/books'].get, { operationId: 'x', tags: ['y'] }),
    undefined,
  ],
  [
    'a parameter of a path gets another name',
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
    'a shared schema deep inside others changes',
    (d) => delete d.components.schemas.Shelf.properties.inside,
    'inside in the response removed',
  ],
];

describe('a check of OpenAPI documents', () => {
  it.each(changes)('decides whether %s', (_, change, finding) => {
    const result = checkDocuments(library, libraryWith('1.0.0', change));
    expect(result.passed).toBe(finding === undefined);
    expect(checkText(result, files)).toContain(finding ?? 'No new version is required.');
  });

  const incompatible = (document: any) => delete document.paths['/v1/books/{id}'].delete;

  it.each([
    ['1.0.0', '1.0.0', false],
    ['1.0.0', '1.1.0', false],
    ['1.0.0', '2.0.0', true],
    ['2.0.0', '1.0.0', false],
    ['0.1.0', '0.1.1', false],
    ['0.1.0', '0.2.0', true],
    ['2026-01-31', '2026-02-28', true],
    ['1.1', '1.2', true],
    ['7', '7', false],
    ['first', 'second', true],
    ['first', 'first', false],
  ])('allows incompatible changes from %s to %s: %s', (from, to, passed) => {
    const published = libraryWith(from, () => {});
    expect(checkDocuments(published, libraryWith(to, incompatible))).toMatchObject({ passed, from, to, breaking: 1 });
  });

  it('requires a new version for compatible changes, too, if it is strict', () => {
    const added = (document: any) => (document.paths['/v1/new'] = { get: { responses: {} } });
    const passed = (to: string, strict: boolean) => checkDocuments(library, libraryWith(to, added), { strict }).passed;
    expect([passed('1.0.0', false), passed('1.0.0', true), passed('1.0.1', true)]).toEqual([true, false, true]);
    expect(checkDocuments(library, library, { strict: true }).passed).toBe(true);
  });

  it('reports the operations that require a new version', () => {
    const result = checkDocuments(library, libraryWith('1.0.0', incompatible));
    expect(checkText(result, files)).toBe(
      [
        'openapi.json against main.json (both have version 1.0.0): operations changed: 1, with incompatible changes: 1',
        'DELETE /v1/books/{id} (Remove a book)\n  - removed',
        'Restore the previous behavior, or change info.version of openapi.json to that of a new version.\n',
      ].join('\n\n'),
    );
    expect(checkAnnotations(result, files)).toMatch(
      /^::error file=openapi\.json,title=Change without a new version::DELETE \/v1\/books\/\{id\} \(Remove a book\): removed\n/,
    );
  });

  it('writes the entry of a changelog, and replaces it', () => {
    const entryOf = (version: string) => changelogEntry(checkDocuments(library, libraryWith(version, incompatible)));
    const first = withEntry('', entryOf('1.0.0'));
    expect(first).toBe(
      '# Changelog\n\n## Unreleased\n\n### Breaking changes\n\n- `DELETE /v1/books/{id}` removed Remove a book\n',
    );
    const second = withEntry(`${first}\n## 0.9.0\n\n- Old\n`, entryOf('2.0.0'));
    expect(second.match(/^## .*/gm)).toEqual(['## 2.0.0', '## 0.9.0']);
    expect(withEntry(second, entryOf('2.0.0'))).toBe(second);
    expect(second).toMatch(/^# Changelog\n/);
  });
});
