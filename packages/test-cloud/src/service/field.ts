import type { z } from 'zod';
import type { Call } from './call.js';

/** An attribute of a resource: its schema, when clients can set it, and its default. */
export interface Field {
  /** Validates and converts the values of clients. */
  readonly schema?: z.ZodType;
  /** `always`: on creation and later; `once`: only on creation; `never`: derived. */
  readonly sets: 'always' | 'once' | 'never';
  /** The default. Undefined: the field is missing. */
  readonly initial?: unknown | ((call: Call) => unknown);
  /** Creation requires it. */
  readonly required?: true;
  /** Restricted to administrators: setting it, or also seeing it. */
  readonly admin?: 'write' | 'read';
  /** Accepted, possibly stored, but never shown. */
  readonly hidden?: true;
  /** The first minor version of the service that shows it; default: all. */
  readonly since?: number;
  /** False: lists cannot be filtered or sorted by it. `storage`: the storage filters by it. */
  readonly filter?: false | 'storage';
  /** This field is not part of the catalog record: it is stored in the documents. */
  readonly inDocuments?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type Options = Omit<Field, 'schema' | 'sets' | 'initial'>;

/** Set by clients on creation and later. */
export const settable = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'always',
  initial,
  ...options,
});

/** Set by clients on creation, immutable afterwards. */
export const fixed = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'once',
  initial,
  ...options,
});

/** Shown, but not settable by clients. */
export const derived = (initial?: Field['initial'], options: Options = {}): Field => ({
  sets: 'never',
  initial,
  ...options,
});

/** Makes a field required on creation. */
export const required = (field: Field): Field => ({ ...field, required: true });

/** Returns the default of a field. */
export function initialOf({ initial }: Field, call: Call): unknown {
  return typeof initial === 'function' ? initial(call) : structuredClone(initial);
}
