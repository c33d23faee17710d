import type { z } from 'zod';
import type { Call } from './call.js';

/** An attribute of a resource: its schema, its default, and whether clients can set it. */
export interface Field {
  /** Validates and converts client values. */
  readonly schema?: z.ZodType;
  /** `always`: on creation and later; `once`: only on creation; `later`: only after creation; `never`: derived. */
  readonly sets: 'always' | 'once' | 'later' | 'never';
  /** The default; undefined: the field is missing. */
  readonly initial?: unknown | ((call: Call) => unknown);
  /** Whether creation requires the field. */
  readonly required?: true;
  /** `write`: only administrators can set the field; `read`: only administrators can set and see it. */
  readonly admin?: 'write' | 'read';
  /** Whether the field is accepted and possibly stored, but never shown. */
  readonly hidden?: true;
  /** The first minor version of the service that accepts and shows the field; default: all versions. */
  readonly since?: number;
  /** The first minor version that accepts the field, if previous versions only show it. */
  readonly setsSince?: number;
  /**
   * False: lists cannot be filtered or sorted by the field. `only`: they cannot be sorted. `sort`: they cannot be
   * filtered. `storage`: the storage filters, and they cannot be sorted.
   */
  readonly filter?: false | 'only' | 'sort' | 'storage';
  /** Whether the field is stored in the documents, because catalog records do not contain it. */
  readonly inDocuments?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type Options = Omit<Field, 'schema' | 'sets' | 'initial'>;

/** Defines a field that clients can set on creation and later. */
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

/** Defines a field that clients can only change. */
export const changeable = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'later',
  initial,
  ...options,
});

/** Defines a field that is shown, but that clients cannot set. */
export const derived = (initial?: Field['initial'], options: Options = {}): Field => ({
  sets: 'never',
  initial,
  ...options,
});

/** Makes a field required on creation. */
export const required = (field: Field): Field => ({ ...field, required: true });

/** Returns a field's default value. */
export function initialOf({ initial }: Field, call: Call): unknown {
  return typeof initial === 'function' ? initial(call) : structuredClone(initial);
}
