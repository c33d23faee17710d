import type { Json } from '@apistrata/microversion-router';

function alternativesOf(schema: Json): readonly Json[] {
  return (schema.anyOf ?? schema.oneOf ?? [schema]) as readonly Json[];
}

const EXAMPLES_BY_TYPE: Readonly<Record<string, unknown>> = {
  string: 'string',
  number: 0,
  integer: 0,
  boolean: false,
  null: null,
};

/** Returns the smallest value that contains everything that a schema requires. */
export function exampleValue(schema: Json): unknown {
  const [first = {}] = alternativesOf(schema);
  if (first.default !== undefined) return first.default;
  if (first.const !== undefined) return first.const;
  if (Array.isArray(first.enum)) return first.enum[0];
  if (first.properties) {
    const requiredNames = (first.required as readonly string[] | undefined) ?? [];
    const properties = first.properties as Record<string, Json>;
    return Object.fromEntries(requiredNames.map((name) => [name, exampleValue(properties[name] ?? {})]));
  }
  if (first.type === 'array') return Number(first.minItems ?? 0) > 0 ? [exampleValue((first.items ?? {}) as Json)] : [];
  if (first.type === 'object') return {};
  return EXAMPLES_BY_TYPE[[first.type].flat()[0] as string] ?? null;
}
