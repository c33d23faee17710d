import type { z } from 'zod';
import type { AnySchema } from '../schema/index.js';
import type { Version } from '../version.js';
import { at, breakpointsOf, mergeBreakpoints, type Window, type Windowed, windowsOf } from '../windowed.js';

/** One field of a representation: where its value comes from, and the schema of that value. Undefined: left out. */
export class ViewField<R, C> {
  readonly schema: AnySchema | View<any, C> | readonly [View<any, C>];
  readonly get: (record: R, call: C) => unknown;

  constructor(schema: ViewField<R, C>['schema'], get: (record: R, call: C) => unknown) {
    this.schema = schema;
    this.get = get;
  }
}

/** A field with a plain value. A getter that gives undefined leaves the field out; the schema should then be optional. */
export function field<R, C, S extends z.ZodType>(
  schema: S,
  get: (record: R, call: C) => z.input<S> | undefined,
): ViewField<R, C> {
  return new ViewField(schema, get);
}

/** A field with a representation of its own; the getter gives the record behind it. */
export function nested<R, C, N>(view: View<N, C>, get: (record: R, call: C) => N | undefined): ViewField<R, C> {
  return new ViewField(view as View<any, C>, get);
}

/** A field with a list of representations. */
export function nestedList<R, C, N>(
  view: View<N, C>,
  get: (record: R, call: C) => readonly N[] | undefined,
): ViewField<R, C> {
  return new ViewField([view as View<any, C>] as const, get);
}

/** The fields of a view by their names, each with its windows. */
export type ViewShape<R, C> = Readonly<Record<string, Windowed<ViewField<R, C>>>>;

/** What there is to say of a view beside its fields. */
export interface ViewOptions<C, R = any> {
  /** Another representation for records of which, at that version, less is known. */
  readonly instead?: Window<{ readonly when: (record: R, call: C) => boolean; readonly view: View<R, C> }>;
  /**
   * Says that the text of a record depends on nothing but the record itself, the version's interval and this key, so it
   * is kept as long as the (immutable) record is. Undefined: not this time.
   */
  readonly memo?: (call: C) => string | undefined;
}

/** A representation with a history: which fields a record shows at which version, and where their values come from. */
export class View<R, C = unknown> {
  readonly shape: ViewShape<R, C>;
  readonly memo: ((call: C) => string | undefined) | undefined;
  readonly instead: ViewOptions<C, R>['instead'];
  readonly breakpoints: readonly Version[];

  constructor(shape: ViewShape<R, C>, options: ViewOptions<C, R>) {
    this.shape = shape;
    this.memo = options.memo;
    this.instead = options.instead;
    const fields = Object.values(shape);
    this.breakpoints = mergeBreakpoints([
      ...breakpointsOf(...fields, options.instead),
      ...fields.flatMap(innerBreakpoints),
      ...(options.instead?.value.view.breakpoints ?? []),
    ]);
  }

  /** The fields of a version, in the order of their definition. */
  fieldsAt(version: Version): readonly (readonly [string, ViewField<R, C>])[] {
    return Object.entries(this.shape).flatMap(([name, windowed]) => {
      const current = at(windowed, version);
      return current ? [[name, current] as const] : [];
    });
  }
}

function innerBreakpoints(windowed: Windowed<ViewField<any, any>>): readonly Version[] {
  return windowsOf(windowed).flatMap(({ value: { schema } }) =>
    Array.isArray(schema) ? schema[0].breakpoints : 'breakpoints' in schema ? schema.breakpoints : [],
  );
}

/** Defines a representation of records of type R; C is the call its getters may ask. */
export function view<R, C = unknown>(shape: ViewShape<R, C>, options: ViewOptions<C, R> = {}): View<R, C> {
  return new View(shape, options);
}
