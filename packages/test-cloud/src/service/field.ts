import type { z } from 'zod';
import type { Call } from './call.js';

/** One attribute of a resource: what it may be, who sets it and when, and what it is when nobody does. */
export interface Field {
  /** Checks and converts what clients send. */
  readonly schema?: z.ZodType;
  /** `always`: when it is made and later; `once`: only when it is made; `never`: it follows from something else. */
  readonly sets: 'always' | 'once' | 'never';
  /** What it is when nobody says. Undefined: then it is left out. */
  readonly initial?: unknown | ((call: Call) => unknown);
  /** Nothing is made without it. */
  readonly required?: true;
  /** What only administrators do with it: set it, or even see it. */
  readonly admin?: 'sets' | 'sees';
  /** Taken, and perhaps kept, but never shown. */
  readonly hidden?: true;
  /** The first minor version of the service that shows it; default: all of them show it. */
  readonly since?: number;
  /** False: lists are neither narrowed nor sorted by it. */
  readonly filter?: false;
  /** The catalog behind the resource has no place for it: it is kept beside, in the documents. */
  readonly aside?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type Options = Omit<Field, 'schema' | 'sets' | 'initial'>;

/** Set by clients, when it is made and later. */
export const settable = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'always',
  initial,
  ...options,
});

/** Set by clients when it is made, and never changed. */
export const fixed = (schema: z.ZodType, initial?: Field['initial'], options: Options = {}): Field => ({
  schema,
  sets: 'once',
  initial,
  ...options,
});

/** Shown, but not for clients to set. */
export const derived = (initial?: Field['initial'], options: Options = {}): Field => ({
  sets: 'never',
  initial,
  ...options,
});

/** Without it nothing is made. */
export const required = (field: Field): Field => ({ ...field, required: true });

/** What a field is when nobody has said. */
export function initialOf({ initial }: Field, call: Call): unknown {
  return typeof initial === 'function' ? initial(call) : structuredClone(initial);
}
