import { z } from 'zod';

/**
 * A schema from any library that implements Standard Schema (standardschema.dev), such as zod, valibot or arktype. `jsonSchema`
 * is an optional part of that interface, used for documents.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly [io in 'input' | 'output']: (options: { readonly target: 'draft-2020-12' }) => object;
    };
  };
}

/** The result of a validation. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue that validation found. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const adaptedSchemas = new WeakMap<StandardSchema, z.ZodType>();
const originalSchemas = new WeakMap<object, StandardSchema>();

/**
 * Returns a zod schema that validates with a schema from another library. Validation must be synchronous.
 *
 * @throws TypeError on validation, if the schema is asynchronous
 */
export function adaptStandard(schema: StandardSchema): z.ZodType {
  let cached = adaptedSchemas.get(schema);
  if (cached) return cached;
  const { validate, vendor } = schema['~standard'];
  cached = z.unknown().transform((value, context) => {
    const result = validate(value);
    if (result instanceof Promise)
      throw new TypeError(`a schema of ${vendor} is asynchronous: the router requires a synchronous one`);
    if (!result.issues) return result.value;
    for (const { message, path = [] } of result.issues) {
      const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
      context.issues.push({ code: 'custom', message, path: keys, input: value });
    }
    return z.NEVER;
  });
  adaptedSchemas.set(schema, cached);
  originalSchemas.set(cached, schema);
  return cached;
}

/**
 * Returns the JSON Schema that another library provides for its schema; undefined for zod schemas, and for libraries
 * without JSON Schema support.
 */
export function jsonSchemaOfAdapted(schema: object, io: 'input' | 'output'): object | undefined {
  const providedSchema = originalSchemas.get(schema)?.['~standard'].jsonSchema?.[io]({ target: 'draft-2020-12' });
  if (!providedSchema) return undefined;
  const { $schema: _, ...rest } = providedSchema as { readonly $schema?: unknown };
  return rest;
}
