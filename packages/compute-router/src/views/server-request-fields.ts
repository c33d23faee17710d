import { requestFields } from './server-body-fields.js';
import { commonFields } from './server-common-fields.js';
import { extendedFields } from './server-extended-fields.js';
import type { ServerField, ServerRequest } from './server-field.js';

const allFields = { ...commonFields, ...extendedFields, ...requestFields } as const;
type AllFields = typeof allFields;

type FieldFilters = {
  readonly [F in keyof AllFields as AllFields[F] extends { readonly filter: unknown }
    ? F
    : never]: AllFields[F] extends {
    readonly filter: infer T;
  }
    ? T
    : never;
};

/** The list filters that server fields define, by field name. */
export const fieldFilters = Object.fromEntries(
  Object.entries<ServerField>(allFields).flatMap(([name, { filter }]) => (filter ? [[name, filter]] : [])),
) as FieldFilters;

type RequestShape<K extends ServerRequest> = {
  readonly [F in keyof AllFields as AllFields[F] extends Readonly<Record<K, unknown>>
    ? F
    : never]: AllFields[F] extends Readonly<Record<K, infer S>> ? S : never;
};

/** Returns the schemas for the fields of a request, by field name. */
export function fieldsOf<K extends ServerRequest>(request: K): RequestShape<K> {
  const fields = Object.entries<ServerField>(allFields);
  return Object.fromEntries(
    fields.flatMap(([name, { [request]: schema }]) => (schema ? [[name, schema]] : [])),
  ) as RequestShape<K>;
}

type RecordFieldName<F> = F extends keyof AllFields
  ? AllFields[F] extends { readonly recordField: infer N extends string }
    ? N
    : never
  : never;

const recordFields = Object.entries<ServerField>(allFields).flatMap(([name, { recordField }]) =>
  recordField ? [[name, recordField] as const] : [],
);

/** Converts the field names in a request body to the engine's names. Missing fields are omitted. */
export function recordFieldsOf<B extends object>(body: B): { readonly [F in keyof B as RecordFieldName<F>]: B[F] } {
  const values = body as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    recordFields.flatMap(([name, recordField]) => (values[name] === undefined ? [] : [[recordField, values[name]]])),
  ) as { readonly [F in keyof B as RecordFieldName<F>]: B[F] };
}
