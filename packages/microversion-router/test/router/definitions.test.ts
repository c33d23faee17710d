import { since, until, Version } from '@apistrata/microversion';
import { describe, expect, it } from 'vitest';
import { changesBetween, coverage, createRouter, openApi } from '../../src/index.js';
import { type operation, operations } from './books.js';

describe('definitions', () => {
  const plain = { method: 'GET', path: '/a', summary: '', status: 200, run: () => undefined } as const;
  const build =
    (...list: Parameters<typeof operation>[0][]) =>
    () =>
      createRouter({
        operations: list as never,
        call: () => ({}),
        negotiate: () => Version.of('2.1'),
        fault: () => {},
      });

  it('are rejected if two include the same version of a path', () => {
    expect(build({ ...plain, window: until('2.5', true) }, { ...plain, window: since('2.5', true) })).toThrow(
      /define GET \/a at the same versions/,
    );
    expect(build({ ...plain, window: until('2.4', true) }, { ...plain, window: since('2.5', true) })).not.toThrow();
  });

  it('generate OpenAPI documents of any version', () => {
    const document = openApi(operations, { title: 'Books', version: '2.5' }) as any;
    expect(Object.keys(document.paths)).toEqual(['/books', '/books/{id}', '/books/{id}/action']);
    expect(document.paths['/books/{id}'].delete).toBeUndefined();
    const posted = document.paths['/books'].post;
    expect(Object.keys(posted.responses)).toEqual(['201', '400']);
    expect(posted.requestBody.content['application/json'].schema.properties.book.properties).toHaveProperty('year');
    const acted = document.paths['/books/{id}/action'].post;
    expect(acted.requestBody.content['application/json'].schema.oneOf).toHaveLength(2);
    expect(acted).toMatchObject({ operationId: 'actOnBook', 'x-action': ['lend', 'burn'] });
  });

  it('describe actions as separate paths for generators that do not support alternatives', () => {
    const document = openApi(operations, { title: 'Books', version: '2.5', actions: 'separate' }) as any;
    expect(document.paths['/books/{id}/action#burn'].post.operationId).toBe('burnBook');
    expect(
      document.paths['/books/{id}/action#lend'].post.requestBody.content['application/json'].schema.properties,
    ).toHaveProperty('lend');
  });

  it('report the changes between two versions', () => {
    const changes = changesBetween(operations, '2.1', '2.3');
    expect(changes.find(({ operation }) => operation === 'DELETE /books/{id}')).toMatchObject({ change: 'added' });
    const { parts } = changes.find(({ operation }) => operation === 'POST /books')!;
    const named = (kind: string) => parts.filter(({ change }) => change === kind).map(({ name }) => name);
    expect(named('added')).toEqual(['body.book.year', 'reply.book.title', 'reply.book.year']);
    expect(named('removed')).toEqual(['reply.book.name']);
    expect(changesBetween(operations, '2.2', '2.2')).toEqual([]);
  });

  it('are listed with their windows', () => {
    expect(coverage(operations).find(({ action }) => action === 'burn')).toMatchObject({
      windows: [{ since: '2.5', until: undefined }],
    });
  });
});
