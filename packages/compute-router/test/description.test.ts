import { join } from 'node:path';
import { Version } from '@apistrata/microversion';
import { breakpointsOfOperation, nameOf, operationKey, operationShape, tagOf } from '@apistrata/microversion-router';
import { describe, expect, it } from 'vitest';
import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  newestSupported,
  operations,
} from '../src/index.js';
import { operation } from '../src/operation.js';
import { commonParameters } from '../src/reference/common-parameters.js';

const LOWEST = Version.of('2.1');
/** Statuses whose general description is not sufficient: their causes depend on the operation. */
const SPECIAL = [409, 413, 501];

/** Every operation at each of its breakpoints. */
const shapes = operations.flatMap((operation) =>
  [LOWEST, ...breakpointsOfOperation(operation)].flatMap((version) => {
    const shape = operationShape(operation, version);
    return shape ? [{ operation, outline: shape, at: `${version} ${operationKey(operation)}` }] : [];
  }),
);

const isField = (part: string) => /^(?:query|body|reply)\./.test(part) && !/(?:\[\]|\.\*)$/.test(part);

describe('the documentation of the compute API', () => {
  it('covers the statuses, errors, queries, requests and responses of operations', () => {
    const kinds = shapes.flatMap(({ outline }) => [...outline.parts.keys()].map((name) => name.split(/[.[]/)[0]));
    expect([...new Set(kinds)].sort()).toEqual(['body', 'errors', 'query', 'reply', 'status']);
  });

  it('describes every query parameter and every field of requests and responses', () => {
    const missing = shapes.flatMap(({ outline, at }) =>
      [...outline.parts.values()]
        .filter(({ name, rules }) => isField(name) && !rules.description)
        .map(({ name }) => `${at} ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('describes causes of errors that are specific to an operation', () => {
    const missing = shapes.flatMap(({ operation, outline, at }) =>
      outline.errors
        .filter((status) => SPECIAL.includes(status) && !operation.when?.[status])
        .map((status) => `${at} ${status}`),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  it('requires the texts of an operation when it is defined', () => {
    const texts = { name: 'showItem', tag: 'servers', description: 'Shows an item.' } as const;
    const rest = { method: 'GET', summary: 'Show an item', status: 200, run: () => undefined } as const;
    const parameters = { id: 'ID of the item.' };
    operation({ ...texts, ...rest, path: '/items/{id}', parameters });
    operation({ ...texts, ...rest, path: '/items' });
    // @ts-expect-error: the operation has no description
    operation({ ...rest, name: 'showItem', tag: 'servers', path: '/items' });
    // @ts-expect-error: the operation has no name
    operation({ ...rest, description: 'Shows an item.', tag: 'servers', path: '/items' });
    // @ts-expect-error: the tag is not described
    operation({ ...texts, ...rest, tag: 'items', path: '/items' });
    // @ts-expect-error: the path parameter is not described
    operation({ ...texts, ...rest, path: '/items/{id}' });
    // @ts-expect-error: one of two path parameters is not described
    operation({ ...texts, ...rest, path: '/items/{id}/parts/{part_id}', parameters });
  });

  it('describes only causes of errors that exist', () => {
    const causes = new Set<string>();
    const used = new Set<string>();
    for (const { operation, outline } of shapes) {
      for (const [status, cause] of Object.entries(operation.when ?? {})) {
        causes.add(`${operation.tag} ${status} ${cause}`);
        if (outline.errors.includes(Number(status))) used.add(`${operation.tag} ${status} ${cause}`);
      }
    }
    expect([...causes].filter((cause) => !used.has(cause))).toEqual([]);
  });

  it('describes only path parameters that exist', () => {
    const stale = [...new Set(operations.map(({ parameters }) => parameters))].flatMap((parameters) => {
      const own = operations.filter((each) => each.parameters === parameters);
      const unused = Object.keys(parameters ?? {}).filter(
        (name) => !(name in commonParameters) && !own.some(({ path }) => path.includes(`{${name}}`)),
      );
      return unused.map((name) => `${own[0]?.tag} ${name}`);
    });
    expect(stale).toEqual([]);
  });

  it('describes every tag', () => {
    const tags = new Set(operations.map(tagOf));
    expect(Object.keys(computeApiDescription.tags ?? {}).sort()).toEqual([...tags].sort());
  });

  it('describes the changes of every version', () => {
    const length = Number(newestSupported().minor);
    expect(Object.keys(computeApiHistory)).toEqual(Array.from({ length }, (_, index) => `2.${index + 1}`));
    expect(Object.entries(computeApiHistory).filter(([, text]) => text.length < 40)).toEqual([]);
  });

  it('defines command lines only for operations and path parameters that exist', () => {
    const holesOf = (text: string): readonly string[] => text.match(/\{\w+\}/g) ?? [];
    const parameters = new Map(operations.map((operation) => [nameOf(operation), holesOf(operation.path)]));
    const stale = Object.entries(computeApiCommands).filter(([name, line]) =>
      holesOf(line).some((hole) => hole !== '{version}' && !parameters.get(name)?.includes(hole)),
    );
    expect(stale).toEqual([]);
    expect(Object.keys(computeApiCommands).filter((name) => !parameters.has(name))).toEqual([]);
  });

  it('keeps the names of operations, which generated clients use', async () => {
    const names = [...new Set(operations.map((operation) => `${nameOf(operation)} ${operationKey(operation)}`))].sort();
    await expect(`${names.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'operation-names.txt'));
  });
});
