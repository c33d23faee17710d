import type { Window, Windowed } from '@apistrata/microversion';
import { type AnySchema, Described, type StandardSchema, Versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { View } from './view.js';

/**
 * The shape of a response body for calls of type C: a view, a list of views, a schema of plain values, or an object of
 * these whose fields may have windows. Each of them may have a description. `run` returns a value of this shape, with
 * records in place of views.
 */
export type ReplyShape<C = any> = PlainShape<C> | Described<PlainShape<C>>;

type PlainShape<C> =
  | View<any, C>
  | AnySchema
  | readonly [ReplyShape<C>]
  | { readonly [name: string]: Windowed<ReplyShape<C>> };

type ValueInWindow<W> = W extends readonly Window<infer S>[] ? S : W extends Window<infer S> ? S : W;

type ReplyObject<S> = {
  readonly [K in keyof S as undefined extends ReplyValue<ValueInWindow<S[K]>> ? never : K]: ReplyValue<
    ValueInWindow<S[K]>
  >;
} & {
  readonly [K in keyof S as undefined extends ReplyValue<ValueInWindow<S[K]>> ? K : never]?: ReplyValue<
    ValueInWindow<S[K]>
  >;
};

/** The type of the value that `run` returns for a reply shape. */
export type ReplyValue<S> =
  S extends View<infer R, any>
    ? R
    : S extends Versioned<infer T>
      ? T
      : S extends StandardSchema<infer T, any>
        ? T
        : S extends readonly [infer I]
          ? readonly ReplyValue<I>[]
          : S extends Described<infer D>
            ? ReplyValue<D>
            : S extends object
              ? ReplyObject<S>
              : never;

/** A reply shape, classified by its kind. */
type ReplyKind =
  | { readonly kind: 'view'; readonly view: View<any, any> }
  | { readonly kind: 'schema'; readonly schema: AnySchema }
  | { readonly kind: 'list'; readonly item: ReplyShape }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Windowed<ReplyShape>])[] };

/** Classifies a reply shape. */
export function kindOf(shape: ReplyShape): ReplyKind {
  if (shape instanceof Described) return kindOf(shape.value);
  if (shape instanceof View) return { kind: 'view', view: shape };
  if (shape instanceof z.ZodType || shape instanceof Versioned || '~standard' in shape)
    return { kind: 'schema', schema: shape as AnySchema };
  if (Array.isArray(shape)) return { kind: 'list', item: shape[0] };
  return { kind: 'object', fields: Object.entries(shape as Record<string, Windowed<ReplyShape>>) };
}
