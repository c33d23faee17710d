import { requestFields } from './server-body-fields.js';
import { commonFields } from './server-common-fields.js';
import { extendedFields } from './server-extended-fields.js';
import type { ServerField, ServerRequest } from './server-field.js';

const all = { ...commonFields, ...extendedFields, ...requestFields } as const;
type All = typeof all;

type FieldFilters = {
  readonly [F in keyof All as All[F] extends { readonly filter: unknown } ? F : never]: All[F] extends {
    readonly filter: infer T;
  }
    ? T
    : never;
};

/** The list filters that server fields define, by field name. */
export const fieldFilters = Object.fromEntries(
  Object.entries<ServerField>(all).flatMap(([name, { filter }]) => (filter ? [[name, filter]] : [])),
) as FieldFilters;

type RequestShape<K extends ServerRequest> = {
  readonly [F in keyof All as All[F] extends Readonly<Record<K, unknown>> ? F : never]: All[F] extends Readonly<
    Record<K, infer S>
  >
    ? S
    : never;
};

/** Returns the schemas for the fields of a request, by field name. */
export function fieldsOf<K extends ServerRequest>(request: K): RequestShape<K> {
  const fields = Object.entries<ServerField>(all);
  return Object.fromEntries(
    fields.flatMap(([name, { [request]: schema }]) => (schema ? [[name, schema]] : [])),
  ) as RequestShape<K>;
}

type RecordFieldName<F> = F extends keyof All
  ? All[F] extends { readonly recordField: infer N extends string }
    ? N
    : never
  : never;

const recordFields = Object.entries<ServerField>(all).flatMap(([name, { recordField }]) =>
  recordField ? [[name, recordField] as const] : [],
);

/** Converts the field names in a request body to the engine's names. Missing fields are omitted. */
export function recordFieldsOf<B extends object>(body: B): { readonly [F in keyof B as RecordFieldName<F>]: B[F] } {
  const given = body as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    recordFields.flatMap(([name, recordField]) => (given[name] === undefined ? [] : [[recordField, given[name]]])),
  ) as { readonly [F in keyof B as RecordFieldName<F>]: B[F] };
}
