import { z } from 'zod';
import type { Version } from '../version.js';
import { at, breakpointsOf, mergeBreakpoints, PerInterval, type Windowed, windowsOf } from '../windowed.js';
import { Described, withoutDescription } from './described.js';
import { type AnySchema, breakpointsWithin, type Check, type Extra, type Infer, schemaAt } from './versioned.js';

/**
 * How a repeated query parameter is handled: its last or first occurrence applies, all are returned, or the request is
 * rejected.
 */
type RepeatHandling = 'last' | 'first' | 'all' | 'reject';

/** A query parameter. Its schema validates each occurrence, which is a string. */
export class QueryParameter<T, R extends RepeatHandling = RepeatHandling> {
  readonly schema: AnySchema;
  readonly repeat: R;
  declare readonly output: T;

  constructor(schema: AnySchema, repeat: R) {
    this.schema = schema;
    this.repeat = repeat;
  }
}

/**
 * Defines a query parameter with a single value, which is its last occurrence, or its first if `which` is `first`.
 * Every occurrence is validated.
 */
export function one<S extends AnySchema>(schema: S, which: 'last' | 'first' = 'last'): QueryParameter<Infer<S>> {
  return new QueryParameter(schema, which);
}

/** Defines a query parameter that may be repeated. Its value is the list of all occurrences, in order. */
export function many<S extends AnySchema>(schema: S): QueryParameter<readonly Infer<S>[], 'all'> {
  return new QueryParameter(schema, 'all');
}

/** Defines a query parameter that may occur at most once. */
export function once<S extends AnySchema>(schema: S): QueryParameter<Infer<S>, 'reject'> {
  return new QueryParameter(schema, 'reject');
}

type QueryShape = Readonly<Record<string, Windowed<QueryParameter<any> | Described<QueryParameter<any>>>>>;

type OutputOf<F> = F extends { readonly output: infer T }
  ? T
  : F extends { readonly value: infer V }
    ? OutputOf<V>
    : F extends readonly (infer W)[]
      ? OutputOf<W>
      : never;

type InferQuery<S extends QueryShape> = { readonly [K in keyof S]?: OutputOf<S[K]> };

/** An invalid query parameter, with all issues that validation found. */
export interface QueryProblem {
  readonly parameter: string;
  readonly value: string;
  readonly issues: readonly z.core.$ZodIssue[];
}

interface CompiledParameter {
  readonly check: Check<unknown>;
  readonly repeat: RepeatHandling;
  readonly schema: z.ZodType;
}

/** Creates a query parameter whose validator is compiled on the first request, because documents need only the schema. */
function compiledParameter(schema: z.ZodType, repeat: RepeatHandling): CompiledParameter {
  let check: Check<unknown> | undefined;
  return {
    schema,
    repeat,
    get check() {
      return (check ??= z.compile(schema) as Check<unknown>);
    },
  };
}

interface CompiledQuery {
  readonly fields: ReadonlyMap<string, CompiledParameter>;
  readonly extra: Extra;
}

/** Query parameters whose names match a pattern. */
export type Patterns = readonly (readonly [name: RegExp, parameter: QueryParameter<any>])[];

function customIssue(message: string): readonly z.core.$ZodIssue[] {
  return [{ code: 'custom', path: [], message, input: undefined }];
}

/** The parameters of a query string. Each may have windows. */
export class Query<T, Parameters = unknown> {
  /** Never set. Contains the type of the parameters with their windows, for the type checker. */
  declare readonly parameters: Parameters;
  readonly breakpoints: readonly Version[];
  readonly #compiled: PerInterval<CompiledQuery>;
  readonly #patterns: Patterns;

  constructor(shape: QueryShape, extra: Windowed<Extra>, patterns: Patterns) {
    this.#patterns = patterns;
    const fields = Object.entries(shape);
    const parameters = fields.flatMap(([, field]) =>
      windowsOf(field).map(({ value }) => withoutDescription<QueryParameter<any>>(value)),
    );
    this.breakpoints = mergeBreakpoints([
      ...fields.flatMap(([, field]) => breakpointsOf(field)),
      ...parameters.flatMap(({ schema }) => breakpointsWithin(schema)),
      ...breakpointsOf(extra),
    ]);
    this.#compiled = new PerInterval(this.breakpoints, (version) => ({
      extra: at(extra, version) ?? 'reject',
      fields: new Map(
        fields.flatMap(([name, field]) => {
          const current = at(field, version);
          const parameter = current && withoutDescription<QueryParameter<any>>(current);
          const schema = parameter && schemaAt(parameter.schema, version);
          if (!schema) return [];
          const describedSchema = current instanceof Described ? schema.describe(current.description) : schema;
          return [[name, compiledParameter(describedSchema, parameter.repeat)]];
        }),
      ),
    }));
  }

  /** Validates a query string. Unknown parameters are reported as problems only if `extra` is `reject`. */
  parse(params: URLSearchParams, version: Version): { value: T; problems: readonly QueryProblem[] } {
    const { fields, extra } = this.#compiled.at(version);
    const value: Record<string, unknown> = Object.create(null);
    const problems: QueryProblem[] = [];
    for (const name of new Set(params.keys())) {
      const field = fields.get(name) ?? this.#findByPattern(name, version);
      const texts = params.getAll(name);
      if (!field) {
        if (extra === 'keep') value[name] = texts.at(-1);
        if (extra === 'reject') {
          problems.push({
            parameter: name,
            value: texts[0] ?? '',
            issues: customIssue(`Additional properties are not allowed ('${name}' was unexpected)`),
          });
        }
        continue;
      }
      if (field.repeat === 'reject' && texts.length > 1) {
        problems.push({
          parameter: name,
          value: texts.join(', '),
          issues: customIssue(`['${texts.join("', '")}'] is too long`),
        });
        continue;
      }
      const results: unknown[] = [];
      for (const text of texts) {
        const checked = field.check.safeParse(text);
        if (checked.success) results.push(checked.data);
        else problems.push({ parameter: name, value: text, issues: checked.error.issues });
      }
      value[name] = field.repeat === 'all' ? results : field.repeat === 'first' ? results[0] : results.at(-1);
    }
    return { value: value as T, problems };
  }

  #findByPattern(name: string, version: Version): CompiledParameter | undefined {
    const parameter = this.#patterns.find(([pattern]) => pattern.test(name))?.[1];
    const schema = parameter && schemaAt(parameter.schema, version);
    return schema && { schema, check: schema as Check<unknown>, repeat: parameter.repeat };
  }

  /** Returns the parameter schemas at a version, for documents. */
  fieldsAt(version: Version): {
    readonly extra: Extra;
    readonly fields: ReadonlyMap<string, { readonly schema: z.ZodType; readonly repeat: RepeatHandling }>;
  } {
    return this.#compiled.at(version);
  }
}

/**
 * Defines the parameters of a query string, which may have windows.
 * @param options.extra how unknown parameters are handled; default `ignore`
 * @param options.patterns parameters whose names match a pattern; exact names take precedence
 */
export function query<const S extends QueryShape>(
  shape: S,
  options: { readonly extra?: Windowed<Extra>; readonly patterns?: Patterns } = {},
): Query<InferQuery<S>, S> {
  return new Query(shape, options.extra ?? 'ignore', options.patterns ?? []);
}
