import { isWindowed, type Version, Window, type Windowed } from '@apistrata/microversion';
import type { AnySchema, Infer, Query } from '@apistrata/microversion/schema';
import type { PreparedResponse } from './prepared-response.js';
import type { ReplyShape, ReplyValue } from './reply-shape.js';

/** The HTTP methods that an operation can have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type ParamsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

type WindowContent<W> = W extends readonly Window<infer S>[] ? S : W extends Window<infer S> ? S : W;

type BodyOf<B> = WindowContent<B> extends infer S ? (S extends AnySchema ? Infer<S> : undefined) : undefined;

type QueryOf<Q> = Q extends Query<infer T> ? T : Record<string, never>;

type ReplyOf<R> = WindowContent<R> extends infer S ? (S extends ReplyShape ? ReplyValue<S> : undefined) : undefined;

/**
 * The return type of a handler: a value that matches the reply shape, or a {@link PreparedResponse}; any value if the
 * operation defines no reply. If a view in the reply needs data that the call does not have, the type is a string
 * literal that describes the error. It is checked here and not in `reply`, because the type of `load` is inferred after
 * `reply` and before `run`.
 */
type HandlerResult<R, Call> = R extends undefined
  ? unknown
  : R extends Windowed<ReplyShape<Call>>
    ? ReplyOf<R> | PreparedResponse | Promise<ReplyOf<R> | PreparedResponse>
    : 'a view in `reply` requires data that `load` does not provide';

/** Properties that the router adds to the call object of a request. */
export interface Routed<Params = unknown, Body = unknown, Q = unknown, Target = unknown, Loaded = unknown> {
  readonly version: Version;
  readonly params: Params;
  readonly body: Body;
  readonly query: Q;
  /** The result of `target`: for example the parent of a sub-resource, or the resource on which an action runs. */
  readonly target: Target;
  /** The result of `load`: data that the handler and the views need in addition to the target. */
  readonly loaded: Loaded;
}

/**
 * The definition of an API operation: a method on a path. Everything that changes between versions is declared with
 * windows.
 */
export interface OperationSpec<
  C,
  P extends string,
  B extends Windowed<AnySchema> | undefined,
  Q extends Query<any> | undefined,
  R extends Windowed<ReplyShape> | undefined,
  T,
  L,
  Policy extends string = string,
> {
  readonly method: Method;
  /** The path of the operation, with parameters such as `{id}`. */
  readonly path: P;
  /** The key that selects this operation if several operations share a POST path: it must be the only key of the body. */
  readonly action?: string;
  /** The versions at which the operation exists, such as `since('2.13', true)`. Default: all versions. */
  readonly window?: Windowed<true>;
  /** A one-line summary of the operation, for API documents. */
  readonly summary: string;
  /** A unique name such as `showServer`, which generated clients use. Default: derived from method, path and action. */
  readonly name?: string;
  /** The group to which the operation belongs, such as `servers`. Default: the first path segment that is not a parameter. */
  readonly tag?: string;
  /** Details beyond the summary, in plain text, for the OpenAPI documents. */
  readonly description?: Windowed<string>;
  /** Descriptions of the path parameters by name, for the OpenAPI documents. */
  readonly parameters?: { readonly [name: string]: string };
  /** The names of the policy rules that the API's `authorize` hook checks. */
  readonly policy?: Policy | readonly Policy[];
  readonly query?: Q;
  readonly body?: B;
  /** Returns the resource that the policy check and the handler need. Runs after validation. */
  readonly target?: (call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, undefined, undefined>) => Promise<T> | T;
  /**
   * Reads data that the handler and the views need in addition to the target, as `call.loaded`. Runs after the policy check. A
   * view declares the data that it needs in its call type, so an operation that does not load this data does not compile.
   */
  readonly load?: (call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, T, undefined>) => Promise<L> | L;
  readonly status: Windowed<number>;
  /** The statuses of errors that clients should expect, for the OpenAPI documents. */
  readonly errors?: Windowed<readonly number[]>;
  /**
   * For each status in `errors`: when the operation returns it. Documents append this to the API's general description
   * of the status.
   */
  readonly when?: { readonly [status: number]: string };
  readonly reply?: R;
  readonly run: (
    call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, T, L>,
  ) => HandlerResult<R, C & { readonly loaded: L }>;
}

/** Any operation, regardless of its types, for the router and the documents. */
export type Operation = OperationSpec<any, string, any, any, any, any, any>;

/** Requires a description of every path parameter. */
type ParameterTexts<P extends string> = unknown extends ParamsOf<P> ? unknown : { readonly parameters: ParamsOf<P> };

/**
 * Returns the function that defines the operations of an API whose calls have the type C. It only checks and infers types.
 * `Policy` is the union of all policy rule names, so that a misspelled name does not compile. `Texts` are properties that every
 * operation of the API must have, such as `{ readonly name: string; readonly description: string }`; with `Texts`, `parameters`
 * must describe every path parameter.
 */
export function operationsOf<C, Policy extends string = string, Texts = unknown>() {
  return function operation<
    const P extends string,
    B extends Windowed<AnySchema> | undefined = undefined,
    Q extends Query<any> | undefined = undefined,
    R extends Windowed<ReplyShape> | undefined = undefined,
    T = undefined,
    L = undefined,
  >(
    spec: OperationSpec<C, P, B, Q, R, T, L, Policy> & Texts & (unknown extends Texts ? unknown : ParameterTexts<P>),
  ): Operation {
    return spec as Operation;
  };
}

/** Returns the version ranges (windows) in which an operation exists. */
export function windowsOfOperation(operation: Operation): readonly Window<true>[] {
  const { window } = operation;
  if (!isWindowed(window)) return [new Window(undefined, undefined, true as const)];
  return (window instanceof Window ? [window] : window) as readonly Window<true>[];
}

/** Returns whether an operation exists at a version. */
export function existsAt(operation: Operation, version: Version): boolean {
  return operation.window === undefined || windowsOfOperation(operation).some((window) => window.has(version));
}
