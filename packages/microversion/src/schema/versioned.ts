import { z } from 'zod';
import type { Version } from '../version.js';
import {
  at,
  breakpointsOf,
  isWindowed,
  mergeBreakpoints,
  PerInterval,
  type Window,
  type Windowed,
  windowsOf,
} from '../windowed.js';
import { Described, withoutDescription } from './described.js';
import { adaptStandard, type StandardSchema } from './standard.js';

/** The method of a compiled schema that validation uses. */
export interface Check<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: z.ZodError };
}

/**
 * A schema that may differ between versions. `at(version)` returns the zod schema for a version, `check(version)` the
 * compiled schema. Both are built on first use and shared by all versions in the interval between two changes.
 */
export class Versioned<T, Fields = unknown> {
  /** Never set. Contains the type of the fields with their windows, for the type checker. */
  declare readonly fields: Fields;
  readonly breakpoints: readonly Version[];
  readonly #schemas: PerInterval<z.ZodType<T>>;
  readonly #checks: PerInterval<Check<T>>;

  constructor(breakpoints: readonly Version[], build: (version: Version) => z.ZodType<T>) {
    this.breakpoints = breakpoints;
    this.#schemas = new PerInterval(breakpoints, build);
    this.#checks = new PerInterval(breakpoints, (version) => z.compile(this.at(version)) as Check<T>);
  }

  at(version: Version): z.ZodType<T> {
    return this.#schemas.at(version);
  }

  check(version: Version): Check<T> {
    return this.#checks.at(version);
  }
}

type PlainSchema = z.ZodType | Versioned<any> | StandardSchema<any, any>;

/** A schema from zod or from any library that implements Standard Schema. It may be versioned and have a description. */
export type AnySchema = PlainSchema | Described<PlainSchema>;

/** The output type of a schema. For a versioned schema, the union of its types at all versions. */
export type Infer<S> =
  S extends Versioned<infer T>
    ? T
    : S extends z.ZodType<infer T>
      ? T
      : S extends StandardSchema<any, infer T>
        ? T
        : S extends Described<infer D>
          ? Infer<D>
          : never;

type KindsOf<W> = W extends Window<unknown, infer Kind> ? Kind : never;

/** True if the windows of a field do not cover all versions, so that some versions do not have the field. */
type IsBounded<F> = F extends readonly (infer W)[]
  ? 'since' extends KindsOf<W>
    ? 'until' extends KindsOf<W>
      ? false
      : true
    : true
  : F extends Window<unknown>
    ? true
    : false;

type ValueInWindow<F> = F extends readonly Window<infer S>[] ? S : F extends Window<infer S> ? S : F;

/** The fields of an object by name. Each field may have version windows. */
export type Shape = Readonly<Record<string, Windowed<AnySchema>>>;

type OptionalKeys<S extends Shape> = {
  [K in keyof S]: IsBounded<S[K]> extends true ? K : undefined extends Infer<ValueInWindow<S[K]>> ? K : never;
}[keyof S];

type Simplify<T> = { [K in keyof T]: T[K] };

/** The type of a versioned object. Fields that exist only in some versions are optional. */
export type InferShape<S extends Shape> = Simplify<
  { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: Infer<ValueInWindow<S[K]>> } & {
    readonly [K in OptionalKeys<S>]?: Infer<ValueInWindow<S[K]>>;
  }
>;

/** How unknown keys are handled: `reject`, `ignore` (dropped), or `keep` (passed to the handler). */
export type Extra = 'reject' | 'ignore' | 'keep';

/** Returns the versions at which a schema changes: the bounds of its windows, and the breakpoints of the schemas in them. */
export function breakpointsWithin(field: Windowed<AnySchema>): readonly Version[] {
  const innerBreakpoints = windowsOf<AnySchema>(field).flatMap(({ value }) => {
    const schema = withoutDescription<unknown>(value);
    return schema instanceof Versioned ? schema.breakpoints : [];
  });
  return [...breakpointsOf(field), ...innerBreakpoints];
}

/** Returns the zod schema of a field at a version; undefined if the field does not exist at that version. */
export function schemaAt(field: Windowed<AnySchema>, version: Version): z.ZodType | undefined {
  const currentSchema = at(field, version);
  if (currentSchema === undefined || currentSchema instanceof z.ZodType) return currentSchema;
  if (currentSchema instanceof Described)
    return schemaAt(currentSchema.value, version)?.describe(currentSchema.description);
  return currentSchema instanceof Versioned
    ? currentSchema.at(version)
    : adaptStandard(currentSchema as StandardSchema);
}

const objectBuilders = { reject: z.strictObject, ignore: z.object, keep: z.looseObject } as const;

/**
 * Defines an object schema whose fields may have windows.
 * @param options.extra how unknown keys are handled; default `reject`
 * @param options.check rules that involve several fields
 *
 * @example
 * ```ts
 * import { since, Version } from '@apistrata/microversion';
 * import { object } from '@apistrata/microversion/schema';
 * import { z } from 'zod';
 *
 * const todo = object({ text: z.string(), color: since('1.5', z.string().optional()) });
 * const { success } = todo.check(Version.of('1.4')).safeParse({ text: 'milk', color: 'red' }); // false: `color` is unknown
 * ```
 */
export function object<const S extends Shape>(
  shape: S,
  options: { readonly extra?: Windowed<Extra>; readonly check?: z.core.CheckFn<InferShape<S>> } = {},
): Versioned<InferShape<S>, S> {
  const fields = Object.entries(shape);
  const extra = options.extra ?? 'reject';
  const breakpoints = mergeBreakpoints([
    ...fields.flatMap(([, field]) => breakpointsWithin(field)),
    ...breakpointsOf(extra),
  ]);
  return new Versioned(breakpoints, (version) => {
    const fieldSchemas = fields.map(([name, field]) => [name, schemaAt(field, version)] as const);
    const shapeAtVersion = Object.fromEntries(fieldSchemas.filter(([, schema]) => schema !== undefined));
    const builtSchema = objectBuilders[at(extra, version) ?? 'reject'](
      shapeAtVersion as z.core.$ZodLooseShape,
    ) as z.ZodType;
    return (options.check ? builtSchema.check(options.check as never) : builtSchema) as z.ZodType<InferShape<S>>;
  });
}

/** Derives a versioned schema from another one with a zod operation, such as `s => s.array().max(5)` or `s => s.nullable()`. */
export function derive<S extends Windowed<AnySchema>, T extends z.ZodType>(
  field: S,
  change: (schema: z.ZodType<Infer<ValueInWindow<S>>>) => T,
): Versioned<z.output<T>> {
  return new Versioned(
    mergeBreakpoints(breakpointsWithin(field)),
    (version) =>
      change((schemaAt(field, version) ?? z.never()) as z.ZodType<Infer<ValueInWindow<S>>>) as unknown as z.ZodType<
        z.output<T>
      >,
  );
}

/** Converts a plain or windowed schema to a versioned schema. At versions without a schema, it rejects all values. */
export function versioned<S extends Windowed<AnySchema>>(field: S): Versioned<Infer<ValueInWindow<S>>> {
  if (!isWindowed(field) && (field as unknown) instanceof Versioned) return field as never;
  return derive(field, (schema) => schema) as Versioned<Infer<ValueInWindow<S>>>;
}
