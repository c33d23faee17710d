import type { Json } from '@apistrata/microversion/router';

/** A field that a form can ask for by itself. */
export interface FormField {
  /** Where its value goes in the body: `['server', 'name']`. */
  readonly path: readonly string[];
  readonly required: boolean;
  readonly kind: 'text' | 'number' | 'boolean' | 'choice';
  readonly choices: readonly string[];
}

function variants(schema: Json): readonly Json[] {
  return (schema.anyOf ?? schema.oneOf ?? [schema]) as readonly Json[];
}

function objectOf(schema: Json): Json | undefined {
  return variants(schema).find(({ properties }) => properties !== undefined);
}

function fieldOf(path: readonly string[], schema: Json, required: boolean): FormField | undefined {
  const [first = {}] = variants(schema);
  if (Array.isArray(first.enum)) return { path, required, kind: 'choice', choices: first.enum.map(String) };
  if (first.type === 'boolean') return { path, required, kind: 'boolean', choices: ['true', 'false'] };
  if (first.type === 'integer' || first.type === 'number') return { path, required, kind: 'number', choices: [] };
  return first.type === 'string' ? { path, required, kind: 'text', choices: [] } : undefined;
}

/** Objects within objects that a form follows; what lies deeper is written as JSON. */
const DEEPEST = 3;

/** The plain fields of a body, for a form; what is not plain is left to its JSON. */
export function formFields(schema: Json, path: readonly string[] = []): readonly FormField[] {
  const object = objectOf(schema);
  const needed = new Set((object?.required as readonly string[] | undefined) ?? []);
  return Object.entries((object?.properties ?? {}) as Record<string, Json>).flatMap(([name, inner]): FormField[] => {
    const here = [...path, name];
    if (objectOf(inner) && here.length < DEEPEST) return [...formFields(inner, here)];
    const field = fieldOf(here, inner, needed.has(name));
    return field ? [field] : [];
  });
}

const PLAIN: Readonly<Record<string, unknown>> = { string: '', number: 0, integer: 0, boolean: false, null: null };

/** The smallest value that has what a schema requires, to begin writing from. */
export function sampleOf(schema: Json): unknown {
  const [first = {}] = variants(schema);
  if (first.default !== undefined) return first.default;
  if (first.const !== undefined) return first.const;
  if (Array.isArray(first.enum)) return first.enum[0];
  if (first.properties) {
    const needed = (first.required as readonly string[] | undefined) ?? [];
    const properties = first.properties as Record<string, Json>;
    return Object.fromEntries(needed.map((name) => [name, sampleOf(properties[name] ?? {})]));
  }
  if (first.type === 'array') return Number(first.minItems ?? 0) > 0 ? [sampleOf((first.items ?? {}) as Json)] : [];
  if (first.type === 'object') return {};
  return PLAIN[[first.type].flat()[0] as string] ?? null;
}
