import type { Described, Query, StandardSchema, Versioned } from '@apistrata/microversion/schema';
import type { View, ViewField } from '../router/view.js';
import type { AtVersion } from './at-version.js';

type Simplify<T> = { [K in keyof T]: T[K] };

/** Makes keys optional if their values can be undefined. */
type WithOptional<T> = Simplify<
  { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    readonly [K in keyof T as undefined extends T[K] ? K : never]?: T[K];
  }
>;

type Direction = 'input' | 'output';

/** The fields that exist at a version, with their values at that version. */
type FieldsAt<Fields, V extends string> = {
  [K in keyof Fields as [AtVersion<Fields[K], V>] extends [never] ? never : K]: AtVersion<Fields[K], V>;
};

type ObjectAt<Fields, V extends string, D extends Direction> = {
  [K in keyof FieldsAt<Fields, V>]: SchemaAt<FieldsAt<Fields, V>[K], V, D>;
};

/** The type of a schema's value at a version, as a client sends it (`input`) or receives it (`output`). */
export type SchemaAt<S, V extends string, D extends Direction> =
  S extends Versioned<infer T, infer Fields>
    ? unknown extends Fields
      ? T
      : WithOptional<ObjectAt<Fields, V, D>>
    : S extends StandardSchema<infer Input, infer Output>
      ? D extends 'input'
        ? Input
        : Output
      : S extends Described<infer Inner>
        ? SchemaAt<Inner, V, D>
        : never;

type FieldAt<F, V extends string> =
  F extends Described<infer Inner>
    ? FieldAt<Inner, V>
    : F extends ViewField<infer _R, infer _C, infer Schema>
      ? ReplyAt<Schema, V>
      : never;

/**
 * The type of a response body at a version. It is `unknown` for a `view()`, which does not preserve the types of its
 * fields; use `viewOf()` instead.
 */
export type ReplyAt<S, V extends string> =
  S extends View<infer _R, infer _C, infer Fields>
    ? unknown extends Fields
      ? unknown
      : WithOptional<{ [K in keyof FieldsAt<Fields, V>]: FieldAt<FieldsAt<Fields, V>[K], V> }>
    : S extends Versioned<unknown, unknown> | StandardSchema<unknown, unknown>
      ? SchemaAt<S, V, 'output'>
      : S extends readonly [infer Item]
        ? readonly ReplyAt<Item, V>[]
        : S extends Described<infer Inner>
          ? ReplyAt<Inner, V>
          : S extends object
            ? WithOptional<{ [K in keyof FieldsAt<S, V>]: ReplyAt<FieldsAt<S, V>[K], V> }>
            : undefined;

type QueryValue = string | number | boolean;

/** The types of the query parameters at a version. */
export type QueryAt<Q, V extends string> =
  Q extends Query<infer _T, infer Parameters>
    ? { readonly [K in keyof FieldsAt<Parameters, V>]?: QueryValue | readonly QueryValue[] }
    : undefined;

/** The union of a path's parameter names. */
export type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;
