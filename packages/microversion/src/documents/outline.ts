import { z } from 'zod';
import { existsAt, type Operation } from '../router/operation.js';
import { prepare } from '../router/router.js';
import type { Version } from '../version.js';
import { at, breakpointsOf, mergeBreakpoints, PerInterval } from '../windowed.js';

/** A JSON object: a schema, a part of a document. */
export type Json = { readonly [name: string]: unknown };

/** A part of an operation at one version: a status, a query parameter, a field of its body or its answer. */
export interface Part {
  /** Dotted name: `status`, `errors.409`, `query.limit`, `body.server.name`, `reply.servers[].id`. */
  readonly name: string;
  /** Its JSON Schema without the fields below it; of a status `{ const: 202 }`. */
  readonly rules: Json;
  /** Whether a request must carry it, or an answer always does. */
  readonly required: boolean;
  /** Whether it refuses what no part below it names. */
  readonly closed: boolean;
}

/** The part that a part lies in: `body.server` of `body.server.name`. What lies in none is its own. */
export function holderOf(name: string): string {
  return name.replace(/(?:\[\]|\.[^.[]+)$/, '');
}

/** An operation as it is at one version. */
export interface Outline {
  readonly status: number;
  readonly errors: readonly number[];
  readonly description: string | undefined;
  readonly body: Json | undefined;
  readonly reply: Json | undefined;
  readonly query: readonly { readonly name: string; readonly schema: Json; readonly repeated: boolean }[];
  /** Whether unknown query parameters are refused. */
  readonly queryClosed: boolean;
  /** Everything of the above by name, in the order of the definition. */
  readonly parts: ReadonlyMap<string, Part>;
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' }) as Json;
  return rest;
}

/** The schemas that a schema offers as alternatives, or itself. */
function alternatives(schema: Json): readonly Json[] {
  const choices = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly Json[] | undefined;
  return choices ? choices.flatMap(alternatives) : [schema];
}

/** The own rules of a schema: those of its fields are theirs. */
function ownRules(schema: Json): Json {
  const variants = alternatives(schema).map((variant) => {
    const { properties, items, required, additionalProperties, propertyNames, ...own } = variant;
    return own;
  });
  const distinct = [...new Map(variants.map((own) => [JSON.stringify(own), own])).values()];
  const described = schema.description === undefined ? {} : { description: schema.description };
  return distinct.length === 1 ? { ...distinct[0], ...described } : { anyOf: distinct, ...described };
}

type Words = NonNullable<Operation['words']>;

/** A schema with the words for it, where it has none of its own. */
function withWords(schema: Json, name: string, words: Words | undefined): Json {
  const description = schema.description ?? words?.(name);
  return description === undefined ? schema : { ...schema, description };
}

/** The same for everything that lies in a schema. */
function describeAll(schema: Json, name: string, words: Words): Json {
  const inner = { ...schema } as Record<string, unknown>;
  for (const kind of ['anyOf', 'oneOf', 'allOf']) {
    // What alternatives are is what they are alternatives for.
    const unnamed: Words = (part) => (part === name ? undefined : words(part));
    if (inner[kind]) inner[kind] = (inner[kind] as Json[]).map((variant) => describeAll(variant, name, unnamed));
  }
  if (inner.properties) {
    const entries = Object.entries(inner.properties as Record<string, Json>);
    inner.properties = Object.fromEntries(
      entries.map(([key, field]) => [key, describeAll(field, `${name}.${key}`, words)]),
    );
  }
  if (inner.items) inner.items = describeAll(inner.items as Json, `${name}[]`, words);
  if (inner.additionalProperties && typeof inner.additionalProperties === 'object') {
    const values = inner.additionalProperties as Json;
    if (Object.keys(values).length > 0) inner.additionalProperties = describeAll(values, `${name}.*`, words);
  }
  return withWords(inner, name, words);
}

function collect(schema: Json, name: string, required: boolean, parts: Map<string, Part>): void {
  const variants = alternatives(schema);
  const closed = variants.some(({ additionalProperties }) => additionalProperties === false);
  const known = parts.get(name);
  // Alternatives may name the same field, each with rules of its own.
  const description = known?.rules.description ?? schema.description;
  const merged = known && { anyOf: [known.rules, ownRules(schema)], ...(description !== undefined && { description }) };
  const rules = ownRules(merged ?? schema);
  parts.set(name, { name, rules, required: known ? known.required && required : required, closed });
  for (const { properties, items, required: needed, additionalProperties } of variants) {
    for (const [key, inner] of Object.entries((properties ?? {}) as Record<string, Json>)) {
      collect(inner, `${name}.${key}`, variants.length === 1 && ((needed as string[]) ?? []).includes(key), parts);
    }
    if (items) collect(items as Json, `${name}[]`, false, parts);
    if (
      additionalProperties &&
      typeof additionalProperties === 'object' &&
      Object.keys(additionalProperties).length > 0
    )
      collect(additionalProperties as Json, `${name}.*`, false, parts);
  }
}

function build(operation: Operation, version: Version): Outline {
  const { body, query, reply } = prepare(operation);
  const status = at(operation.status, version) ?? 200;
  const fields = query?.fieldsAt(version);
  const { words } = operation;
  const worded = (schema: Json, name: string) => (words ? describeAll(schema, name, words) : schema);
  const outline = {
    status,
    errors: at(operation.errors ?? [], version) ?? [],
    description: at(operation.description, version),
    body: body && worded(jsonSchema(body.at(version), 'input'), 'body'),
    reply: reply && worded(jsonSchema(reply.schema(version), 'output'), 'reply'),
    query: [...(fields?.fields ?? [])].map(([name, { schema, repeat }]) => ({
      name,
      schema: worded(jsonSchema(schema, 'input'), `query.${name}`),
      repeated: repeat !== 'refuse',
    })),
    queryClosed: fields?.extra === 'refuse',
  };
  const parts = new Map<string, Part>([
    ['status', { name: 'status', rules: { const: status }, required: true, closed: false }],
  ]);
  for (const code of outline.errors) {
    parts.set(`errors.${code}`, { name: `errors.${code}`, rules: { const: code }, required: false, closed: false });
  }
  for (const { name, schema, repeated } of outline.query) {
    const rules = { ...ownRules(schema), ...(repeated ? {} : { maxItems: 1 }) };
    parts.set(`query.${name}`, { name: `query.${name}`, rules, required: false, closed: false });
  }
  if (outline.body) collect(outline.body, 'body', true, parts);
  if (outline.reply) collect(outline.reply, 'reply', true, parts);
  return { ...outline, parts };
}

interface Described {
  readonly breakpoints: readonly Version[];
  readonly outlines: PerInterval<Outline>;
}

const described = new WeakMap<Operation, Described>();

function describe(operation: Operation): Described {
  let known = described.get(operation);
  if (!known) {
    const { body, query, reply } = prepare(operation);
    const breakpoints = mergeBreakpoints([
      ...breakpointsOf(operation.window, operation.status, operation.errors, operation.description),
      ...(body?.breakpoints ?? []),
      ...(query?.breakpoints ?? []),
      ...(reply?.breakpoints ?? []),
    ]);
    known = { breakpoints, outlines: new PerInterval(breakpoints, (version) => build(operation, version)) };
    described.set(operation, known);
  }
  return known;
}

/** The versions at which anything of an operation may change, ascending. */
export function breakpointsOfOperation(operation: Operation): readonly Version[] {
  return describe(operation).breakpoints;
}

/** An operation as it is at a version, made on first use and shared by versions between which nothing changes; undefined where it is not. */
export function outlineOf(operation: Operation, version: Version): Outline | undefined {
  return existsAt(operation, version) ? describe(operation).outlines.at(version) : undefined;
}
