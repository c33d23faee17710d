import type { Windowed } from '@apistrata/microversion';
import type { AnySchema, Query } from '@apistrata/microversion/schema';
import type { AtVersion } from '../types/at-version.js';
import type { ReplyAt, SchemaAt } from '../types/forms.js';
import type { Method, Operation, OperationSpec, Routed } from './operation.js';
import type { PreparedResponse } from './prepared-response.js';
import type { ReplyShape } from './reply-shape.js';

/** The types of an operation that `createClient()` uses. */
export interface OperationTypes {
  readonly key: string;
  readonly path: string;
  readonly window: unknown;
  readonly body: unknown;
  readonly query: unknown;
  readonly reply: unknown;
  readonly errors: unknown;
}

/** An operation that keeps its parameter, body and reply types, for `createClient()` from `/client`. */
export interface TypedOperation<Types extends OperationTypes = OperationTypes> extends Operation {
  /** Never set; exists only for the type checker. */
  readonly types?: Types;
}

type Params<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & Params<Rest>
  : unknown;

type QueryOf<Q> = Q extends Query<infer T, infer _Parameters> ? T : Record<string, never>;

type NewestBody<B> = B extends undefined ? undefined : SchemaAt<AtVersion<B, 'latest'>, 'latest', 'output'>;

type NewestReply<R> = R extends undefined ? unknown : ReplyAt<AtVersion<R, 'latest'>, 'latest'> | PreparedResponse;

type TypedOperationSpec<
  C,
  M,
  P extends string,
  A,
  W,
  B extends Windowed<AnySchema> | undefined,
  Q extends Query<unknown, unknown> | undefined,
  R,
  E,
  T,
> = Omit<
  OperationSpec<C, P, B, undefined, undefined, T, undefined>,
  'method' | 'action' | 'window' | 'query' | 'reply' | 'errors' | 'target' | 'load' | 'run'
> & {
  readonly method: M;
  readonly action?: A;
  readonly window?: W;
  readonly query?: Q;
  readonly reply?: R;
  readonly errors?: E;
  readonly target?: (call: C & Routed<Params<P>, NewestBody<B>, QueryOf<Q>>) => Promise<T> | T;
  readonly run: (call: C & Routed<Params<P>, NewestBody<B>, QueryOf<Q>, T>) => NewestReply<R> | Promise<NewestReply<R>>;
};

type KeyOf<M extends string, P extends string, A> = A extends string ? `${M} ${P} ${A}` : `${M} ${P}`;

/**
 * Returns the function that defines operations and keeps their types, so that `createClient()` has the types of every
 * version. Handlers read and write bodies in the newest format: use these operations with `migrations`, or with fields
 * that older versions also have.
 */
export function typedOperationsOf<C>() {
  return function typedOperation<
    const M extends Method,
    const P extends string,
    const A extends string | undefined = undefined,
    const W extends Windowed<true> | undefined = undefined,
    B extends Windowed<AnySchema> | undefined = undefined,
    Q extends Query<unknown, unknown> | undefined = undefined,
    R extends Windowed<ReplyShape<C>> | undefined = undefined,
    const E extends Windowed<readonly number[]> | undefined = undefined,
    T = undefined,
  >(
    spec: TypedOperationSpec<C, M, P, A, W, B, Q, R, E, T>,
  ): TypedOperation<{ key: KeyOf<M, P, A>; path: P; window: W; body: B; query: Q; reply: R; errors: E }> {
    return spec as unknown as Operation;
  };
}
