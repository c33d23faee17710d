import type { Version, VersionLike } from '@apistrata/microversion';
import {
  breakpointsOfOperation,
  existsAt,
  type Json,
  nameOf,
  type Operation,
  type OperationShape,
  operationShape,
} from '@apistrata/microversion-router';
import { VersionRange } from '../model/versions.js';
import { type VersionSpan, WindowedType } from './windowed-type.js';

/** Options for `versionedTypes()`. */
export interface VersionedTypesOptions {
  /** Name of the API, from which the prefix of type names is derived: `Compute API` results in `ComputeResponse`. */
  readonly title: string;
  /** The lowest and the highest version that the types cover. Both must have the same major number. */
  readonly min: VersionLike;
  readonly max: VersionLike;
}

/**
 * An inclusive range of versions in which an operation's shape is the same. The ends are indexes into the version list.
 */
interface ShapeRange {
  readonly first: number;
  readonly last: number;
  readonly shape: OperationShape;
}

function shapeRangesOf(operations: readonly Operation[], versions: readonly Version[]): readonly ShapeRange[] {
  const breakpointTexts = new Set(operations.flatMap((each) => breakpointsOfOperation(each)).map(({ text }) => text));
  const starts = versions.flatMap((version, first) =>
    first === 0 || breakpointTexts.has(version.text) ? [{ version, first }] : [],
  );
  return starts.flatMap(({ version, first }, index) => {
    const operation = operations.find((each) => existsAt(each, version));
    const shape = operation && operationShape(operation, version);
    return shape ? [{ first, last: (starts[index + 1]?.first ?? versions.length) - 1, shape }] : [];
  });
}

function querySchema({ query }: OperationShape): Json | undefined {
  if (query.length === 0) return undefined;
  const fields = query.map(({ name, schema: { description, ...schema }, repeated }) => {
    const rules = repeated ? { anyOf: [schema, { type: 'array', items: schema }] } : schema;
    return [name, { description, ...rules }] as const;
  });
  return { type: 'object', properties: Object.fromEntries(fields), additionalProperties: false };
}

/** Returns the prefix for type names, derived from the API's title. */
function typePrefixOf(title: string): string {
  const words = title.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && !/^api$/i.test(word));
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^\d/.test(name) ? `Api${name}` : name || 'Api';
}

const TYPE_HELPERS = {
  Since: `/** T since version First, otherwise Else. */
type Since<V extends VERSION, First extends VERSION, T, Else = unknown> = First extends Reached[V] ? T : Else;`,
  Until: `/** T until version Last, inclusive, otherwise Else. */
type Until<V extends VERSION, Last extends VERSION, T, Else = unknown> = V extends Reached[Last] ? T : Else;`,
  Between: `/** T from version First to version Last, inclusive, otherwise Else. */
type Between<V extends VERSION, First extends VERSION, Last extends VERSION, T, Else = unknown> =
  First extends Reached[V] ? (V extends Reached[Last] ? T : Else) : Else;`,
  Flat: `type Flat<T> = { [Name in keyof T]: T[Name] };`,
};

/** All operations that share a name, and the version ranges in which they exist. */
interface NamedOperation {
  readonly name: string;
  readonly summary: string;
  readonly ranges: readonly ShapeRange[];
}

/** Returns the TypeScript type for the names of the operations that exist at a version. */
function operationNamesType(operations: readonly NamedOperation[], versions: readonly Version[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, ranges } of operations) {
    // Merges consecutive ranges into one window.
    const spans: { first: number; last: number }[] = [];
    for (const { first, last } of ranges) {
      const previousSpan = spans.at(-1);
      if (previousSpan && previousSpan.last + 1 === first) previousSpan.last = last;
      else spans.push({ first, last });
    }
    for (const { first, last } of spans) {
      const [since, until] = [first > 0, last < versions.length - 1];
      const bounds = [...(since ? [first] : []), ...(until ? [last] : [])].map((index) => `'${versions[index]}'`);
      const helperName = since && until ? 'Between' : since ? 'Since' : until ? 'Until' : '';
      const typePrefix = helperName && `${helperName}<V, ${bounds.join(', ')}, `;
      groups.set(typePrefix, [...(groups.get(typePrefix) ?? []), `'${name}'`]);
    }
  }
  return [...groups]
    .map(([prefix, names]) => `\n  | ${prefix === '' ? names.join(' | ') : `${prefix}${names.join(' | ')}, never>`}`)
    .join('');
}

/**
 * Returns a TypeScript module with an API's request bodies, queries and responses at every version of a range:
 * `ComputeResponse<'2.53', 'showServer'>` is the response of that operation at that version.
 *
 * @throws RangeError if `min` and `max` do not form a range
 */
export function versionedTypes(operations: readonly Operation[], { title, min, max }: VersionedTypesOptions): string {
  const versions = VersionRange.between(min, max).all;
  const versionTexts = versions.map(({ text }) => text);
  const operationsByName = new Map<string, [Operation, ...Operation[]]>();
  for (const operation of operations) {
    const name = nameOf(operation);
    const group = operationsByName.get(name);
    if (group) group.push(operation);
    else operationsByName.set(name, [operation]);
  }
  const namedOperations = [...operationsByName]
    .map(
      ([name, group]): NamedOperation => ({ name, summary: group[0].summary, ranges: shapeRangesOf(group, versions) }),
    )
    .filter(({ ranges }) => ranges.length > 0);
  const requestTypes = new WindowedType(versionTexts, { open: true });
  const responseTypes = new WindowedType(versionTexts);
  const interfaceMembers = (writer: WindowedType, schemaOf: (shape: OperationShape) => Json | undefined) =>
    namedOperations
      .map(({ name, summary, ranges }) => {
        const spans = ranges.map(({ first, last, shape }): VersionSpan => ({ first, last, schema: schemaOf(shape) }));
        return `  /** ${summary.replaceAll('*/', '*\\/')} */\n  ${name}: ${writer.text(spans, '  ')};\n`;
      })
      .join('');
  const prefix = typePrefixOf(title);
  const version = `${prefix}Version`;
  const parts = {
    Body: interfaceMembers(requestTypes, ({ body }) => body),
    Query: interfaceMembers(responseTypes, querySchema),
    Response: interfaceMembers(responseTypes, ({ reply }) => reply),
  };
  const names = operationNamesType(namedOperations, versions);
  const generatedText = [names, ...Object.values(parts)].join('');
  const helpers = Object.entries(TYPE_HELPERS).filter(([name]) => generatedText.includes(`${name}<`));
  const descriptions = {
    Body: 'The request body of an operation at a version; `undefined` if the operation has none.',
    Query: 'The query parameters of an operation at a version; `undefined` if the operation has none.',
    Response: 'The response body of an operation at a version; `undefined` if the operation has none.',
  };
  return [
    `// ${title}, versions ${versionTexts[0]} to ${versionTexts.at(-1)}. Generated by \`apistrata-explorer types\`. Do not edit.`,
    `/** For each version, the union of that version and all versions before it. */\ninterface Reached {\n${versionTexts
      .map((text, index) => `  '${text}': ${index === 0 ? '' : `Reached['${versionTexts[index - 1]}'] | `}'${text}';\n`)
      .join('')}}`,
    `export type ${version} = keyof Reached;`,
    ...helpers.map(([, text]) => text.replaceAll('VERSION', version)),
    `/** The names of the operations at a version. */\nexport type ${prefix}Operation<V extends ${version}> =${names};`,
    ...Object.entries(parts).flatMap(([part, text]) => [
      `interface ${part}At<V extends ${version}> {\n${text}}`,
      `/** ${descriptions[part as keyof typeof descriptions]} */\nexport type ${prefix}${part}<V extends ${version}, Name extends ${prefix}Operation<V>> = V extends ${version}\n  ? ${part}At<V>[Name & keyof ${part}At<V>]\n  : never;`,
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}
