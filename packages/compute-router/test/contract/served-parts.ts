import { Version } from '@apistrata/microversion';
import { type AnySchema, versioned } from '@apistrata/microversion/schema';
import { existsAt, type Operation, operationKey, Reply } from '@apistrata/microversion-router';
import { z } from 'zod';
import { keyOf, LATEST, listedOperations, listedViews } from './reference.js';

type Json = Readonly<Record<string, any>>;

/** Fields of the types that the reference names without listing their fields. */
const NESTED_NAMES: readonly (readonly [type: RegExp, names: readonly string[]])[] = [
  [/^links$/, ['[].rel', '[].href']],
  [/^collection_links$/, ['[].rel', '[].href']],
  // Links of images: one of them has a media type.
  [/^array<any>\(items [23]\.\.[23]\)$/, ['[].rel', '[].href', '[].type']],
  [/^personality$/, ['[].path', '[].contents']],
];

const versions = Array.from({ length: Number(LATEST.split('.')[1]) }, (_, index) => Version.of(`2.${index + 1}`));

const nameless = (key: string) => key.replaceAll(/\{[^}]+\}/g, '{}');
const factOf = new Map(listedOperations.filter(({ base }) => !base).map((one) => [nameless(keyOf(one)), one]));

interface Timed {
  readonly since: string;
  readonly until: string | null;
}

function existsAtVersion({ since, until }: Timed, version: Version): boolean {
  return version.compare(Version.of(since)) >= 0 && (until === null || version.compare(Version.of(until)) <= 0);
}

function alternatives(schema: Json): readonly Json[] {
  const choices: readonly Json[] | undefined = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return choices ? choices.flatMap(alternatives) : [schema];
}

/** Adds the dotted names of all fields below a JSON schema: `servers[].addresses.*[].addr`. */
function collect(schema: Json, name: string, names: Set<string>): void {
  for (const { properties = {}, items, additionalProperties } of alternatives(schema)) {
    for (const [key, inner] of Object.entries(properties as Readonly<Record<string, Json>>)) {
      const path = name ? `${name}.${key}` : key;
      names.add(path);
      collect(inner, path, names);
    }
    if (items) collect(items, `${name}[]`, names);
    if (additionalProperties && typeof additionalProperties === 'object')
      collect(additionalProperties, name ? `${name}.*` : '*', names);
  }
}

/** Versions without a change between them share one schema. */
const fieldsOfSchema = new WeakMap<z.ZodType, ReadonlySet<string>>();

function fieldsOf(schema: z.ZodType, io: 'input' | 'output'): ReadonlySet<string> {
  const cached = fieldsOfSchema.get(schema);
  if (cached) return cached;
  const names = new Set<string>();
  collect(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), '', names);
  fieldsOfSchema.set(schema, names);
  return names;
}

/** Returns the prefixes of a representation in each of its envelopes, and the names of those envelopes. */
function envelopesOf(envelope: string, own: ReadonlySet<string>): { prefixes: string[]; names: string[] } {
  const prefixes: string[] = [];
  const names: string[] = [];
  for (const alternative of envelope.split(' / ')) {
    let prefix = '';
    // A name may be both a field and an envelope: `{"version": {..}}`, `{"metadata": {..}}`.
    const list = /^item of (\w+)/.exec(alternative)?.[1];
    const keys = list
      ? [[list, '[']]
      : [...alternative.matchAll(/"(\w+)": ([[{])/g)].map(([, key, kind]) => [key, kind]);
    for (const [key, kind] of keys) {
      if (own.has(key!)) prefixes.push(prefix);
      names.push(prefix + key);
      prefix += `${key}${kind === '[' ? '[]' : ''}.`;
    }
    prefixes.push(prefix);
  }
  return { prefixes, names };
}

function withNestedFields(name: string, type: string): readonly string[] {
  const nested = NESTED_NAMES.find(([pattern]) => pattern.test(type))?.[1] ?? [];
  return [name, ...nested.map((below) => name + below)];
}

/** Returns the names of the response fields that the reference lists at a version. */
function listedReplyFields(key: string, version: Version): ReadonlySet<string> {
  const knownIds = new Set<string>();
  for (const { operations, envelope, collection = [], fields } of listedViews) {
    if (!operations.some((one) => nameless(one) === key)) continue;
    const { prefixes, names } = envelopesOf(envelope, new Set(fields.map(({ name }) => name.split(/[.[]/)[0]!)));
    for (const name of names) knownIds.add(name);
    for (const { name, type, ...window } of collection)
      if (existsAtVersion(window, version)) for (const inner of withNestedFields(name, type)) knownIds.add(inner);
    for (const { name, type, ...window } of fields) {
      if (!existsAtVersion(window, version)) continue;
      for (const prefix of prefixes)
        for (const inner of withNestedFields(prefix + name.replace(/^\./, ''), type)) knownIds.add(inner);
    }
  }
  return knownIds;
}

interface RequestGroup extends Timed {
  readonly fields: readonly { readonly name: string; readonly type: string }[];
}

/** Returns the parts that an operation has at a version but the reference does not list. */
function unlistedAt(operation: Operation, reply: Reply | undefined, version: Version): readonly string[] {
  const key = nameless(operationKey(operation));
  const unlisted: string[] = [];
  const compare = (kind: string, served: Iterable<string>, known: ReadonlySet<string>) => {
    for (const name of served) if (!known.has(name)) unlisted.push(`${kind}.${name}`);
  };
  const { query, request } = factOf.get(key)!;
  const { body, query: parameters } = operation;
  if (reply) compare('reply', fieldsOf(reply.schema(version), 'output'), listedReplyFields(key, version));
  if (parameters) {
    const groups = query.filter((group) => existsAtVersion(group, version));
    const knownIds = new Set(groups.flatMap(({ params = {} }) => Object.keys(params)));
    compare('query', parameters.fieldsAt(version).fields.keys(), knownIds);
  }
  if (body && typeof request !== 'string') {
    const groups = (request as readonly RequestGroup[]).filter((group) => existsAtVersion(group, version));
    const knownFields = groups.flatMap(({ fields }) =>
      fields.flatMap(({ name, type }) => withNestedFields(name, type)),
    );
    compare('body', fieldsOf(versioned(body as AnySchema).at(version), 'input'), new Set(knownFields));
  }
  return unlisted;
}

/** Returns operations that the reference does not contain. */
export function operationsWithoutFact(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.map(operationKey))].filter((key) => !factOf.has(nameless(key)));
}

/**
 * Returns the fields and parameters of known operations that the reference does not list, each with its first version.
 */
export function partsWithoutFact(operations: readonly Operation[]): readonly string[] {
  const first = new Map<string, Version>();
  for (const operation of operations) {
    const fact = factOf.get(nameless(operationKey(operation)));
    if (!fact || fact.removed) continue;
    const reply = operation.reply && new Reply(operation.reply);
    for (const version of versions) {
      if (!existsAt(operation, version)) continue;
      for (const part of unlistedAt(operation, reply, version)) {
        const name = `${operationKey(operation)}: ${part}`;
        if (!first.has(name)) first.set(name, version);
      }
    }
  }
  return [...first].map(([name, version]) => `${name} from ${version.text}`);
}
