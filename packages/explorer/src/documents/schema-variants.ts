import type { Json } from '@apistrata/microversion-router';
import { type OpenApiDocument, objectOrEmpty, sharedSchemaName } from './openapi-document.js';

/** A schema and its depth, which is the number of references between the operation and the schema. */
export interface NestedSchema {
  readonly schema: Json;
  readonly depth: number;
}

/** One alternative of a schema, with references, `allOf`, `oneOf` and `anyOf` resolved. */
export interface SchemaVariant {
  /** Keywords that constrain the value itself, as opposed to its fields or items. */
  readonly own: Json;
  readonly properties: ReadonlyMap<string, NestedSchema>;
  readonly required: ReadonlySet<string>;
  readonly items: NestedSchema | undefined;
  /** Schema for additional fields, which `properties` does not name. */
  readonly additional: NestedSchema | undefined;
  readonly closed: boolean;
  /** Name of the shared schema that describes the content, if the content is not expanded here. */
  readonly reference: string | undefined;
}

/**
 * The depth at which shared schemas are no longer expanded, because the expansion of recursive schemas would not end.
 */
export const MAX_EXPANDED_DEPTH = 2;
/** Maximum number of alternatives for a schema. */
const MAX_VARIANTS = 64;

/** Keywords that pages show and that comparisons include. */
const VALUE_KEYWORDS = [
  'type',
  'format',
  'enum',
  'const',
  'pattern',
  'default',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'deprecated',
] as const;

/** Boolean keywords in OpenAPI 3.0, each with the keyword whose bound it makes exclusive. */
const EXCLUSIVE_FLAGS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

function valueKeywords(schema: Json): Json {
  const own: Record<string, unknown> = {};
  for (const keyword of VALUE_KEYWORDS) if (schema[keyword] !== undefined) own[keyword] = schema[keyword];
  for (const [flag, bound] of EXCLUSIVE_FLAGS) {
    if (typeof own[flag] !== 'boolean') continue;
    if (own[flag]) own[flag] = own[bound];
    else delete own[flag];
    if (own[flag] !== undefined) delete own[bound];
  }
  if (own.type === undefined && schema.properties !== undefined) own.type = 'object';
  if (own.type === undefined && schema.items !== undefined) own.type = 'array';
  if (schema.nullable === true && own.type !== undefined) own.type = [...new Set([own.type, 'null'].flat())];
  return own;
}

function plainVariant(schema: Json, depth: number): SchemaVariant {
  const nested = (value: unknown): NestedSchema => ({ schema: objectOrEmpty(value), depth });
  const { additionalProperties, items, required } = schema;
  const additional =
    Object.keys(objectOrEmpty(additionalProperties)).length > 0 ? nested(additionalProperties) : undefined;
  return {
    own: valueKeywords(schema),
    properties: new Map(Object.entries(objectOrEmpty(schema.properties)).map(([name, value]) => [name, nested(value)])),
    required: new Set(Array.isArray(required) ? (required as string[]) : []),
    items: items === undefined ? undefined : nested(items),
    additional,
    closed: additionalProperties === false,
    reference: undefined,
  };
}

/** Returns the types that two schemas have in common. */
function commonType(one: unknown, other: unknown): unknown {
  if (one === undefined || other === undefined) return one ?? other;
  const commonTypes = [one].flat().filter((type) => [other].flat().includes(type));
  return commonTypes.length === 1 ? commonTypes[0] : commonTypes.length > 1 ? commonTypes : other;
}

function mergeVariants(one: SchemaVariant, other: SchemaVariant): SchemaVariant {
  const properties = new Map(one.properties);
  for (const [name, nested] of other.properties) {
    const existing = properties.get(name);
    properties.set(
      name,
      existing
        ? { schema: { allOf: [existing.schema, nested.schema] }, depth: Math.max(existing.depth, nested.depth) }
        : nested,
    );
  }
  const type = commonType(one.own.type, other.own.type);
  return {
    own: { ...one.own, ...other.own, ...(type !== undefined && { type }) },
    properties,
    required: new Set([...one.required, ...other.required]),
    items: other.items ?? one.items,
    additional: other.additional ?? one.additional,
    closed: one.closed || other.closed,
    reference: [one.reference, other.reference].filter(Boolean).join(' and ') || undefined,
  };
}

function combineVariants(lists: readonly (readonly SchemaVariant[])[]): readonly SchemaVariant[] {
  let results: readonly SchemaVariant[] = [];
  for (const list of lists)
    results = (
      results.length === 0 ? list : results.flatMap((one) => list.map((other) => mergeVariants(one, other)))
    ).slice(0, MAX_VARIANTS);
  return results;
}

const isSimple = ({ properties, items, allOf, oneOf, anyOf, $ref, additionalProperties }: Json) =>
  (properties ?? items ?? allOf ?? oneOf ?? anyOf ?? $ref) === undefined && typeof additionalProperties !== 'object';

/** Returns a schema's alternatives. The list is never empty. */
export function schemaVariants(document: OpenApiDocument, { schema, depth }: NestedSchema): readonly SchemaVariant[] {
  const { $ref, oneOf, anyOf, allOf, ...base } = schema;
  if (typeof $ref === 'string') {
    const target = objectOrEmpty(document.resolve($ref));
    if (depth >= MAX_EXPANDED_DEPTH && !isSimple(target)) {
      const own = valueKeywords(target.type === undefined ? { ...target, type: 'object' } : target);
      return [{ ...plainVariant({}, depth), own, reference: sharedSchemaName($ref) ?? $ref }];
    }
    return schemaVariants(document, { schema: { ...target, ...base }, depth: depth + 1 });
  }
  const variantsOf = (list: unknown) =>
    (list as readonly unknown[]).flatMap((each) => schemaVariants(document, { schema: objectOrEmpty(each), depth }));
  const lists: (readonly SchemaVariant[])[] = [];
  if (Array.isArray(allOf))
    lists.push(...allOf.map((each) => schemaVariants(document, { schema: objectOrEmpty(each), depth })));
  for (const alternatives of [oneOf, anyOf]) if (Array.isArray(alternatives)) lists.push(variantsOf(alternatives));
  return combineVariants([[plainVariant(base, depth)], ...lists.filter((list) => list.length > 0)]);
}
