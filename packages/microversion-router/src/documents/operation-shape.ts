import { at, breakpointsOf, mergeBreakpoints, PerInterval, type Version } from '@apistrata/microversion';
import { jsonSchemaOfAdapted } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { existsAt, type Operation } from '../router/operation.js';
import { compileOperation } from '../router/router.js';
import type { Example } from './examples.js';

/** A JSON object, such as a JSON Schema or a part of an OpenAPI document. */
export type Json = { readonly [name: string]: unknown };

/** A part of an operation at one version: a status, a query parameter, or a field of the request or response body. */
export interface Part {
  /** The dotted name of the part: `status`, `errors.409`, `query.limit`, `body.server.name`, `reply.servers[].id`. */
  readonly name: string;
  /** The JSON Schema of the part, without the fields that it contains; for a status, `{ const: 202 }`. */
  readonly rules: Json;
  /** Whether requests must contain the part, or all responses contain it. */
  readonly required: boolean;
  /** Whether unknown fields in the part are rejected. */
  readonly closed: boolean;
  /** The name of the shared schema that describes the content of the part; undefined if the part's own fields describe it. */
  readonly reference?: string;
}

/** Returns the name of the enclosing part: `body.server` for `body.server.name`. For a top-level part, returns its own name. */
export function parentPart(name: string): string {
  return name.replace(/(?:\[\]|\.[^.[]+)$/, '');
}

/** What an operation accepts and returns at one version. */
export interface OperationShape {
  readonly status: number;
  readonly errors: readonly number[];
  readonly description: string | undefined;
  readonly body: Json | undefined;
  readonly reply: Json | undefined;
  readonly query: readonly { readonly name: string; readonly schema: Json; readonly repeated: boolean }[];
  /** Whether unknown query parameters are rejected. */
  readonly queryClosed: boolean;
  /** All parts of the operation by name, in the order of their definition. */
  readonly parts: ReadonlyMap<string, Part>;
  /** Whether the removal of a request part is always a breaking change. Default: only if unknown names are rejected there. */
  readonly removalBreaks?: boolean;
  /** Whether the API no longer recommends the operation. */
  readonly isDeprecated?: boolean;
  /** Media type of the request body. Default: `application/json`. */
  readonly mediaType?: string;
  /** An example request and its response. Default: the result of `ApiDescription.exampleOf`. */
  readonly example?: Example;
}

const jsonSchemas = { input: new WeakMap<z.ZodType, Json>(), output: new WeakMap<z.ZodType, Json>() };

/**
 * Moves each `description` in a schema to the last position, so that the order of the keys does not depend on how the
 * schema was built.
 */
function moveDescriptionsLast({ description, ...rest }: Json): Json {
  const schema: Record<string, unknown> = rest;
  for (const kind of ['anyOf', 'oneOf', 'allOf'])
    if (schema[kind]) schema[kind] = (schema[kind] as Json[]).map(moveDescriptionsLast);
  for (const kind of ['items', 'additionalProperties'])
    if (typeof schema[kind] === 'object') schema[kind] = moveDescriptionsLast(schema[kind] as Json);
  if (schema.properties) {
    const fields = Object.entries(schema.properties as Record<string, Json>);
    schema.properties = Object.fromEntries(fields.map(([name, field]) => [name, moveDescriptionsLast(field)]));
  }
  return description === undefined ? schema : { ...schema, description };
}

/** Returns the JSON Schema of a zod schema. It is cached, because operations share schemas. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const cached = jsonSchemas[io].get(schema);
  if (cached) return cached;
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema: writtenSchema }) => {
      const adaptedSchema = jsonSchemaOfAdapted(zodSchema, io);
      if (adaptedSchema) Object.assign(writtenSchema, adaptedSchema);
    },
  }) as Json;
  const result = moveDescriptionsLast(rest);
  jsonSchemas[io].set(schema, result);
  return result;
}

/** Returns the alternatives of a schema (`anyOf`, `oneOf`, `allOf`), or the schema itself if it has none. */
function alternatives(schema: Json): readonly Json[] {
  const choices = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly Json[] | undefined;
  return choices ? choices.flatMap(alternatives) : [schema];
}

/** Returns the rules of a schema, without the schemas of the fields and items that it contains. */
function shallowRules(schema: Json): Json {
  const variants = alternatives(schema).map((variant) => {
    const { properties, items, required, additionalProperties, propertyNames, ...own } = variant;
    return own;
  });
  const distinctVariants = [...new Map(variants.map((own) => [JSON.stringify(own), own])).values()];
  const descriptionField = schema.description === undefined ? {} : { description: schema.description };
  return distinctVariants.length === 1
    ? { ...distinctVariants[0], ...descriptionField }
    : { anyOf: distinctVariants, ...descriptionField };
}

/** Adds an operation part, and all parts that it contains, to `parts`. */
function collectParts(schema: Json, name: string, required: boolean, parts: Map<string, Part>): void {
  const variants = alternatives(schema);
  const closed = variants.some(({ additionalProperties }) => additionalProperties === false);
  const existingPart = parts.get(name);
  // Alternatives of a schema may define the same field with different rules.
  const description = existingPart?.rules.description ?? schema.description;
  const mergedSchema = existingPart && {
    anyOf: [existingPart.rules, shallowRules(schema)],
    ...(description !== undefined && { description }),
  };
  const rules = shallowRules(mergedSchema ?? schema);
  parts.set(name, { name, rules, required: existingPart ? existingPart.required && required : required, closed });
  for (const { properties, items, required: requiredKeys, additionalProperties } of variants) {
    for (const [key, inner] of Object.entries((properties ?? {}) as Record<string, Json>)) {
      const isRequired = variants.length === 1 && ((requiredKeys as string[]) ?? []).includes(key);
      collectParts(inner, `${name}.${key}`, isRequired, parts);
    }
    if (items) collectParts(items as Json, `${name}[]`, false, parts);
    if (
      additionalProperties &&
      typeof additionalProperties === 'object' &&
      Object.keys(additionalProperties).length > 0
    )
      collectParts(additionalProperties as Json, `${name}.*`, false, parts);
  }
}

function buildShape(operation: Operation, version: Version): OperationShape {
  const { body, query, reply } = compileOperation(operation);
  const status = at(operation.status, version) ?? 200;
  const fields = query?.fieldsAt(version);
  const shape = {
    status,
    errors: at(operation.errors ?? [], version) ?? [],
    description: at(operation.description, version),
    body: body && jsonSchema(body.at(version), 'input'),
    reply: reply && jsonSchema(reply.schema(version), 'output'),
    query: [...(fields?.fields ?? [])].map(([name, { schema, repeat }]) => ({
      name,
      schema: jsonSchema(schema, 'input'),
      repeated: repeat !== 'reject',
    })),
    queryClosed: fields?.extra === 'reject',
  };
  const parts = new Map<string, Part>([
    ['status', { name: 'status', rules: { const: status }, required: true, closed: false }],
  ]);
  for (const code of shape.errors) {
    parts.set(`errors.${code}`, { name: `errors.${code}`, rules: { const: code }, required: false, closed: false });
  }
  for (const { name, schema, repeated } of shape.query) {
    const rules = { ...shallowRules(schema), ...(repeated ? {} : { maxItems: 1 }) };
    parts.set(`query.${name}`, { name: `query.${name}`, rules, required: false, closed: false });
  }
  if (shape.body) collectParts(shape.body, 'body', true, parts);
  if (shape.reply) collectParts(shape.reply, 'reply', true, parts);
  return { ...shape, parts };
}

interface ShapeHistory {
  readonly breakpoints: readonly Version[];
  readonly shapes: PerInterval<OperationShape>;
}

const shapeHistories = new WeakMap<Operation, ShapeHistory>();

function shapeHistoryOf(operation: Operation): ShapeHistory {
  let cached = shapeHistories.get(operation);
  if (!cached) {
    const { body, query, reply } = compileOperation(operation);
    const breakpoints = mergeBreakpoints([
      ...breakpointsOf(operation.window, operation.status, operation.errors, operation.description),
      ...(body?.breakpoints ?? []),
      ...(query?.breakpoints ?? []),
      ...(reply?.breakpoints ?? []),
    ]);
    cached = { breakpoints, shapes: new PerInterval(breakpoints, (version) => buildShape(operation, version)) };
    shapeHistories.set(operation, cached);
  }
  return cached;
}

/** The properties of an operation that are the same at all versions. */
export type OperationSummary = Pick<
  Operation,
  'path' | 'action' | 'window' | 'summary' | 'name' | 'tag' | 'parameters' | 'when'
> & { readonly method: string };

/**
 * Creates an operation for documents only. Its shapes come from `shapeAt` instead of schemas. A router cannot serve it.
 *
 * @param breakpoints the versions at which a shape may change
 * @param shapeAt returns the shape at a version at which the operation exists; called once for each interval between
 * breakpoints
 */
export function describedOperation(
  summary: OperationSummary,
  breakpoints: Iterable<Version>,
  shapeAt: (version: Version) => OperationShape,
): Operation {
  const operation = {
    ...summary,
    status: 200,
    run() {
      throw new TypeError(
        `${summary.method} ${summary.path} was created by describedOperation(), which has no handler`,
      );
    },
  } as Operation;
  const sortedBreakpoints = mergeBreakpoints(breakpoints);
  shapeHistories.set(operation, {
    breakpoints: sortedBreakpoints,
    shapes: new PerInterval(sortedBreakpoints, shapeAt),
  });
  return operation;
}

/** Returns the versions at which an operation may change, in ascending order. */
export function breakpointsOfOperation(operation: Operation): readonly Version[] {
  return shapeHistoryOf(operation).breakpoints;
}

/**
 * Returns the shape of an operation at a version, or undefined if the operation does not exist at that version. The
 * shape is computed on first use and shared by all versions in the interval between two changes.
 */
export function operationShape(operation: Operation, version: Version): OperationShape | undefined {
  return existsAt(operation, version) ? shapeHistoryOf(operation).shapes.at(version) : undefined;
}
