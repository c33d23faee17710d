import {
  at,
  breakpointsOf,
  mergeBreakpoints,
  type Version,
  type Window,
  type Windowed,
  windowsOf,
} from '@apistrata/microversion';
import { type AnySchema, Described, withoutDescription } from '@apistrata/microversion/schema';
import type { z } from 'zod';

/** One field of a view: a getter and the schema of the value that it returns. Undefined values are omitted. */
export class ViewField<R, C, Schema = AnySchema | View<any, C> | readonly [View<any, C>]> {
  readonly schema: Schema;
  readonly get: (record: R, call: C) => unknown;

  constructor(schema: Schema, get: (record: R, call: C) => unknown) {
    this.schema = schema;
    this.get = get;
  }
}

/**
 * Defines a view field with a plain value. If the getter can return undefined, which omits the field, the schema should
 * be optional.
 */
export function field<R, C, S extends z.ZodType>(
  schema: S,
  get: (record: R, call: C) => z.input<S> | undefined,
): ViewField<R, C, S> {
  return new ViewField(schema, get);
}

/** Defines a view field that contains another view; the getter returns the record for that view. */
export function nested<R, C, N, F>(
  view: View<N, C, F>,
  get: (record: R, call: C) => N | undefined,
): ViewField<R, C, View<any, C, F>> {
  return new ViewField(view as View<any, C, F>, get);
}

/** Defines a view field that contains a list of views; the getter returns the records for that list. */
export function nestedList<R, C, N, F>(
  view: View<N, C, F>,
  get: (record: R, call: C) => readonly N[] | undefined,
): ViewField<R, C, readonly [View<any, C, F>]> {
  return new ViewField([view as View<any, C, F>] as const, get);
}

/** The fields of a view by name. Each may have windows. */
export type ViewShape<R, C> = Readonly<Record<string, Windowed<ViewField<R, C> | Described<ViewField<R, C>>>>>;

type DescribedField<R, C> = readonly [name: string, field: ViewField<R, C>, description: string | undefined];

/** Options for `view()`. */
export interface ViewOptions<C, R = any> {
  /** Another view that is used for records for which `when` returns true, such as records with less data. */
  readonly alternative?: Window<{ readonly when: (record: R, call: C) => boolean; readonly view: View<R, C> }>;
  /**
   * Returns the key under which the rendered text of a record is cached. The text must depend only on this key, the
   * version and the record, which must be immutable. If the function returns undefined, the text is not cached.
   */
  readonly cacheKey?: (call: C) => string | undefined;
}

/** Defines how records are represented in responses at each version: the fields and their getters. */
export class View<R, C = unknown, Fields = unknown> {
  /** Never set. Contains the type of the fields with their windows, for the type checker. */
  declare readonly fields: Fields;
  readonly shape: ViewShape<R, C>;
  readonly cacheKey: ((call: C) => string | undefined) | undefined;
  readonly alternative: ViewOptions<C, R>['alternative'];
  readonly breakpoints: readonly Version[];

  constructor(shape: ViewShape<R, C>, options: ViewOptions<C, R>) {
    this.shape = shape;
    this.cacheKey = options.cacheKey;
    this.alternative = options.alternative;
    const fields = Object.values(shape);
    this.breakpoints = mergeBreakpoints([
      ...breakpointsOf(...fields, options.alternative),
      ...fields.flatMap(innerBreakpoints),
      ...(options.alternative?.value.view.breakpoints ?? []),
    ]);
  }

  /** Returns the fields that exist at a version with their descriptions, in the order of their definition. */
  fieldsAt(version: Version): readonly DescribedField<R, C>[] {
    return Object.entries(this.shape).flatMap(([name, windowed]): readonly DescribedField<R, C>[] => {
      const currentField = at(windowed, version);
      if (!currentField) return [];
      return currentField instanceof Described
        ? [[name, currentField.value, currentField.description]]
        : [[name, currentField, undefined]];
    });
  }
}

function innerBreakpoints(windowed: ViewShape<any, any>[string]): readonly Version[] {
  return windowsOf(windowed).flatMap(({ value }) => {
    const { schema } = withoutDescription<ViewField<any, any>>(value);
    return Array.isArray(schema) ? schema[0].breakpoints : 'breakpoints' in schema ? schema.breakpoints : [];
  });
}

/** Defines how records of type R are represented in responses. C is the type of the call that getters receive. */
export function view<R, C = unknown>(shape: ViewShape<R, C>, options: ViewOptions<C, R> = {}): View<R, C> {
  return new View(shape, options);
}

/**
 * Returns a function that does the same as {@link view} and keeps the types of the fields, so that `createClient()`
 * from `/client` has the types of each version.
 */
export function viewOf<R, C = unknown>() {
  return function typedView<const Fields extends ViewShape<R, C>>(
    shape: Fields,
    options: ViewOptions<C, R> = {},
  ): View<R, C, Fields> {
    return new View<R, C, Fields>(shape, options);
  };
}
