import { join } from 'node:path';
import { Version } from '@apistrata/microversion';
import { breakpointsOfOperation, nameOf, operationKey, operationShape, tagOf } from '@apistrata/microversion/router';
import { describe, expect, it } from 'vitest';
import {
  computeApiCommands,
  computeApiDescription,
  computeApiHistory,
  newestSupported,
  operations,
} from '../src/index.js';
import { resources } from '../src/reference/resources.js';

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
  it('describes every operation and every path parameter', () => {
    const missing = shapes.flatMap(({ operation, outline, at }) => {
      const parameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
      const silent = parameters.filter((name) => !operation.parameters?.[name]);
      return [...(outline.description ? [] : [at]), ...silent.map((name) => `${at} {${name}}`)];
    });
    expect(missing).toEqual([]);
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

  it('describes only operations and errors that exist', () => {
    const errorsOf = new Map<string, Set<number>>();
    for (const { operation, outline } of shapes) {
      const known = errorsOf.get(operationKey(operation)) ?? [];
      errorsOf.set(operationKey(operation), new Set([...known, ...outline.errors]));
    }
    const stale = resources.flatMap((resource) =>
      Object.entries(resource.operations).flatMap(([key, [, , when = {}]]) => {
        const errors = errorsOf.get(key);
        if (!errors) return [key];
        return Object.keys(when)
          .filter((status) => !errors.has(Number(status)))
          .map((status) => `${key} ${status}`);
      }),
    );
    expect(stale).toEqual([]);
  });

  it('describes only fields and parameters that exist', () => {
    const stale = resources.flatMap(({ tag, operations: words, fields = {}, parameters = {} }) => {
      const own = shapes.filter(({ operation }) => operationKey(operation) in words);
      const parts = own.flatMap(({ outline }) => [...outline.parts.keys()].map((name) => name.replaceAll('[]', '')));
      const names = new Set(
        own.flatMap(({ operation }) => [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, n]) => n)),
      );
      return [
        ...Object.keys(fields).filter((end) => !parts.some((part) => part === end || part.endsWith(`.${end}`))),
        ...Object.keys(parameters).filter((name) => !names.has(name)),
      ].map((name) => `${tag} ${name}`);
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
