import type { AnySchema, Infer, Query } from '../schema/index.js';
import type { Version } from '../version.js';
import { isWindowed, Window, type Windowed } from '../windowed.js';
import type { Answer } from './answer.js';
import type { ReplyShape, ReplyValue } from './reply-shape.js';

/** The methods that operations can have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type ParamsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

type HeldIn<W> = W extends readonly Window<infer S>[] ? S : W extends Window<infer S> ? S : W;

type BodyOf<B> = HeldIn<B> extends infer S ? (S extends AnySchema ? Infer<S> : undefined) : undefined;

type QueryOf<Q> = Q extends Query<infer T> ? T : Record<string, never>;

type ReplyOf<R> = HeldIn<R> extends infer S ? (S extends ReplyShape ? ReplyValue<S> : undefined) : undefined;

/**
 * What a handler gives: a value of the reply's outline, or an answer that says more; anything where there is no reply.
 * Nothing will do for a reply with a view that asks its call for what is not there. (Said here and not of the reply,
 * because what `load` gives is inferred after the reply and before the handler.)
 */
type Result<R, Call> = R extends undefined
  ? unknown
  : R extends Windowed<ReplyShape<Call>>
    ? ReplyOf<R> | Answer | Promise<ReplyOf<R> | Answer>
    : 'a view of the reply asks its call for something that `load` does not give';

/** What the router adds to the call of the API that is being served. */
export interface Routed<Params = unknown, Body = unknown, Q = unknown, Target = unknown, Loaded = unknown> {
  readonly version: Version;
  readonly params: Params;
  readonly body: Body;
  readonly query: Q;
  /** What `target` found: the parent of a sub-resource, the object of an action. */
  readonly target: Target;
  /** What `load` read: what the handler and the views of the answer need beside the target. */
  readonly loaded: Loaded;
}

/** A method on a path as it is written down; everything that changes over time is windowed. */
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
  /** Path with `{name}` parameters. */
  readonly path: P;
  /** For several operations on one POST path: the body's only key, which chooses among them. */
  readonly action?: string;
  /** The versions that have it: `since('2.13', true)`. Default: all. */
  readonly window?: Windowed<true>;
  /** One line for the documents. */
  readonly summary: string;
  /** Name among all operations of the API, for generated clients: `showServer`. Default: made of method, path and action. */
  readonly name?: string;
  /** What the operation is about, to group by: `servers`. Default: the first fixed segment of the path. */
  readonly tag?: string;
  /** What the summary leaves open, in plain text, for the documents. */
  readonly description?: Windowed<string>;
  /** What each parameter of the path is, by its name, for the documents. */
  readonly parameters?: { readonly [name: string]: string };
  /**
   * What a part of the request or the answer is, for parts whose schemas do not say it, by dotted name
   * (`query.limit`, `body.server.name`, `reply.servers[].id`). Asked when documents are made, never for a request.
   */
  readonly words?: (part: string) => string | undefined;
  /** Names of the rules that the API's `authorize` hook checks. */
  readonly policy?: Policy | readonly Policy[];
  readonly query?: Q;
  readonly body?: B;
  /** Finds the object that the policy is checked on and the handler works with. Runs after validation. */
  readonly target?: (call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, undefined, undefined>) => Promise<T> | T;
  /**
   * Reads what the handler and the views of the answer need beside the target, as `call.loaded`. Runs after the policy
   * check. Views say what they need by the type of their call, so an operation that forgets to load it does not compile.
   */
  readonly load?: (call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, T, undefined>) => Promise<L> | L;
  readonly status: Windowed<number>;
  /** Statuses of expected errors, for the documents. */
  readonly errors?: Windowed<readonly number[]>;
  /** When a status of `errors` comes, where there is more to say than what the API says of that status in general. */
  readonly when?: { readonly [status: number]: string };
  readonly reply?: R;
  readonly run: (call: C & Routed<ParamsOf<P>, BodyOf<B>, QueryOf<Q>, T, L>) => Result<R, C & { readonly loaded: L }>;
}

/** Any operation, as the router and the documents read it. */
export type Operation = OperationSpec<any, string, any, any, any, any, any>;

/**
 * Gives the function that defines operations of an API whose calls are of type C. The definition is checked and its
 * types are inferred; nothing is built. Policy: the names of the API's rules, so that one that is misspelt does not compile.
 */
export function operationsOf<C, Policy extends string = string>() {
  return function operation<
    const P extends string,
    B extends Windowed<AnySchema> | undefined = undefined,
    Q extends Query<any> | undefined = undefined,
    R extends Windowed<ReplyShape> | undefined = undefined,
    T = undefined,
    L = undefined,
  >(spec: OperationSpec<C, P, B, Q, R, T, L, Policy>): Operation {
    return spec as Operation;
  };
}

/** The windows in which an operation exists. */
export function windowsOfOperation(operation: Operation): readonly Window<true>[] {
  const { window } = operation;
  if (!isWindowed(window)) return [new Window(undefined, undefined, true as const)];
  return (window instanceof Window ? [window] : window) as readonly Window<true>[];
}

/** Whether a version has an operation. */
export function existsAt(operation: Operation, version: Version): boolean {
  return operation.window === undefined || windowsOfOperation(operation).some((window) => window.has(version));
}
