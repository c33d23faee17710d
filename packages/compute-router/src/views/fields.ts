// Functions that define response fields. They require a description, because OpenAPI documents describe every field.

import { type Described, described } from '@apistrata/microversion/schema';
import { type ViewField, field as viewField } from '@apistrata/microversion-router';
import { z } from 'zod';
import * as type from '../schemas/reply-types.js';

/** A response field with its OpenAPI description. Its getter receives a record of type `R`. */
export type Field<R, C, Schema = ViewField<R, C>['schema']> = Described<ViewField<R, C, Schema>>;

/** Defines a field. If the getter returns undefined, the response omits the field, so the schema should be optional. */
export function field<R, C, S extends z.ZodType>(
  description: string,
  schema: S,
  get: (record: R, call: C) => z.input<S> | undefined,
): Field<R, C, S> {
  return described(description, viewField(schema, get));
}

const string = z.string();
const boolean = z.boolean();
const nullSchema = z.null();

/** Defines a string field. */
export function text<R, C>(description: string, get: (record: R, call: C) => string): Field<R, C, z.ZodString> {
  return field(description, string, get);
}

/** Defines a field whose value is a string or null. */
export function nullableText<R, C>(
  description: string,
  get: (record: R, call: C) => string | null,
): Field<R, C, typeof type.nullableText> {
  return field(description, type.nullableText, get);
}

/** Defines an integer field. */
export function integer<R, C>(description: string, get: (record: R, call: C) => number): Field<R, C, z.ZodInt> {
  return field(description, type.integer, get);
}

/** Defines a boolean field. */
export function flag<R, C>(description: string, get: (record: R, call: C) => boolean): Field<R, C, z.ZodBoolean> {
  return field(description, boolean, get);
}

/** Defines a time field. The getter returns milliseconds since the epoch. */
export function time<R, C>(description: string, get: (record: R, call: C) => number): Field<R, C, typeof type.time> {
  return field(description, type.time, (record: R, call: C) => type.formatTime(get(record, call)));
}

/** Defines a field whose value is a time, as in `time()`, or null. */
export function nullableTime<R, C>(
  description: string,
  get: (record: R, call: C) => number | null,
): Field<R, C, typeof type.nullableTime> {
  return field(description, type.nullableTime, (record: R, call: C) => type.formatNullableTime(get(record, call)));
}

/** Defines a field that is always null. */
export function alwaysNull<R, C>(description: string): Field<R, C, z.ZodNull> {
  return field(description, nullSchema, () => null);
}
