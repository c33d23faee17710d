import { Version } from '@apistrata/microversion';
import { existsAt, type Operation, operationKey, Reply } from '@apistrata/microversion/router';
import { type AnySchema, versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { keyOf, LATEST, listedOperations, listedViews } from './reference.js';

type Json = Readonly<Record<string, any>>;

/** What lies in a fact whose type is named instead of listed field by field. */
const INSIDE: readonly (readonly [type: RegExp, names: readonly string[]])[] = [
  [/^links$/, ['[].rel', '[].href']],
  [/^collection_links$/, ['[].rel', '[].href']],
  // The links of images, of which one has a media type.
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

function holdsAt({ since, until }: Timed, version: Version): boolean {
  return version.compare(Version.of(since)) >= 0 && (until === null || version.compare(Version.of(until)) <= 0);
}

function alternatives(schema: Json): readonly Json[] {
  const choices: readonly Json[] | undefined = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  return choices ? choices.flatMap(alternatives) : [schema];
}

/** Adds the dotted names of everything below a JSON schema: `servers[].addresses.*[].addr`. */
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

/** Versions between which nothing changes share one schema. */
const fieldsOfSchema = new WeakMap<z.ZodType, ReadonlySet<string>>();

function fieldsOf(schema: z.ZodType, io: 'input' | 'output'): ReadonlySet<string> {
  const known = fieldsOfSchema.get(schema);
  if (known) return known;
  const names = new Set<string>();
  collect(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), '', names);
  fieldsOfSchema.set(schema, names);
  return names;
}

/** The paths of a representation below each of the envelopes that it comes in, and the names of those envelopes. */
function envelopesOf(envelope: string, own: ReadonlySet<string>): { prefixes: string[]; names: string[] } {
  const prefixes: string[] = [];
  const names: string[] = [];
  for (const alternative of envelope.split(' / ')) {
    let prefix = '';
    // A name of both a field and an envelope may be either: `{"version": {..}}`, `{"metadata": {..}}`.
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

function withInside(name: string, type: string): readonly string[] {
  const inside = INSIDE.find(([pattern]) => pattern.test(type))?.[1] ?? [];
  return [name, ...inside.map((below) => name + below)];
}

/** The names of reply fields for which the reference has a fact at a version. */
function listedReplyFields(key: string, version: Version): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { operations, envelope, collection = [], fields } of listedViews) {
    if (!operations.some((one) => nameless(one) === key)) continue;
    const { prefixes, names } = envelopesOf(envelope, new Set(fields.map(({ name }) => name.split(/[.[]/)[0]!)));
    for (const name of names) known.add(name);
    for (const { name, type, ...window } of collection)
      if (holdsAt(window, version)) for (const inner of withInside(name, type)) known.add(inner);
    for (const { name, type, ...window } of fields) {
      if (!holdsAt(window, version)) continue;
      for (const prefix of prefixes)
        for (const inner of withInside(prefix + name.replace(/^\./, ''), type)) known.add(inner);
    }
  }
  return known;
}

interface RequestGroup extends Timed {
  readonly fields: readonly { readonly name: string; readonly type: string }[];
}

/** The parts of an operation at a version that have no fact. */
function unlistedAt(operation: Operation, reply: Reply | undefined, version: Version): readonly string[] {
  const key = nameless(operationKey(operation));
  const unlisted: string[] = [];
  const look = (kind: string, served: Iterable<string>, known: ReadonlySet<string>) => {
    for (const name of served) if (!known.has(name)) unlisted.push(`${kind}.${name}`);
  };
  const { query, request } = factOf.get(key)!;
  const { body, query: parameters } = operation;
  if (reply) look('reply', fieldsOf(reply.schema(version), 'output'), listedReplyFields(key, version));
  if (parameters) {
    const groups = query.filter((group) => holdsAt(group, version));
    const known = new Set(groups.flatMap(({ params = {} }) => Object.keys(params)));
    look('query', parameters.fieldsAt(version).fields.keys(), known);
  }
  if (body && typeof request !== 'string') {
    const groups = (request as readonly RequestGroup[]).filter((group) => holdsAt(group, version));
    const known = groups.flatMap(({ fields }) => fields.flatMap(({ name, type }) => withInside(name, type)));
    look('body', fieldsOf(versioned(body as AnySchema).at(version), 'input'), new Set(known));
  }
  return unlisted;
}

/** The operations of which the reference knows nothing. */
export function operationsWithoutFact(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.map(operationKey))].filter((key) => !factOf.has(nameless(key)));
}

/** Fields and parameters of known operations without a fact, each with the first version that has it. */
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
