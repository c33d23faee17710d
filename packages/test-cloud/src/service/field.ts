import type { z } from 'zod';
import type { Call } from './call.js';

/** The definition of a resource's field: its schema, its default, and whether clients can set it. */
export interface Field {
  /** Validates and converts values that clients send. */
  readonly schema?: z.ZodType;
  /** When clients can set the field: on creation and later, only on creation, only after creation, or never. */
  readonly sets: 'always' | 'once' | 'later' | 'never';
  /** The default value, or a function that returns it. If undefined, a field without a value is missing. */
  readonly initial?: unknown | ((call: Call) => unknown);
  /** Whether create requests must contain the field. */
  readonly required?: true;
  /** `write`: only administrators can set the field; `read`: only administrators can set and see it. */
  readonly admin?: 'write' | 'read';
  /** Whether only managers of the project can set the field. */
  readonly manager?: true;
  /** Whether the field is accepted and possibly stored, but never returned. */
  readonly hidden?: true;
  /** The first minor version of the API that accepts and returns the field; default: all versions do. */
  readonly since?: number;
  /** The first minor version of the API that accepts the field, if earlier versions only return it. */
  readonly setsSince?: number;
  /**
   * How lists use the field. False: not at all; `only`: only as a filter; `sort`: only as a sort key; `storage`: only
   * as a filter, which the storage applies itself. Default: as a filter and as a sort key.
   */
  readonly filter?: false | 'only' | 'sort' | 'storage';
  /** Whether the field is stored in the document store, because catalog records do not contain it. */
  readonly inDocuments?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type Options = Omit<Field, 'schema' | 'sets' | 'initial'>;

/** Defines a field that clients can set on creation and change later. */
export const settable = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'always',
  initial,
  ...options,
});

/** Defines a field that clients can set on creation and that is immutable afterwards. */
export const fixed = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'once',
  initial,
  ...options,
});

/** Defines a field that clients can change, but not set on creation. */
export const changeable = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'later',
  initial,
  ...options,
});

/** Defines a field that is returned, but that clients cannot set. */
export const derived = (initial?: Field['initial'], options: Options = {}): Field => ({
  sets: 'never',
  initial,
  ...options,
});

/** Makes a field required in create requests. */
export const required = (field: Field): Field => ({ ...field, required: true });

/** Returns a field's default value. */
export function defaultOf({ initial }: Field, call: Call): unknown {
  return typeof initial === 'function' ? initial(call) : structuredClone(initial);
}
