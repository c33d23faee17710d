import type { OperationTypes, TypedOperation } from '../router/typed-operation.js';
import type { AtVersion } from '../types/at-version.js';
import type { PathNames, QueryAt, ReplyAt, SchemaAt } from '../types/forms.js';

/** The type of an array of operations that `typedOperationsOf()` has defined, such as `typeof operations`. */
export type TypedApi = readonly TypedOperation[];

type TypesOf<Op> = Op extends { readonly types?: infer Types } ? Extract<Types, OperationTypes> : never;

/** The union of the types of all operations that exist at a version. */
type OperationsAt<Api extends TypedApi, V extends string> =
  TypesOf<Api[number]> extends infer Types
    ? Types extends OperationTypes
      ? Types['window'] extends undefined
        ? Types
        : [AtVersion<Types['window'], V>] extends [never]
          ? never
          : Types
      : never
    : never;

/** The keys of the operations that exist at a version, such as `GET /invoices/{id}`. */
export type OperationKey<Api extends TypedApi, V extends string> = OperationsAt<Api, V>['key'];

type OperationTypesAt<Api extends TypedApi, V extends string, K> = Extract<OperationsAt<Api, V>, { readonly key: K }>;

type RequestBodyAt<B, V extends string> = B extends undefined ? undefined : SchemaAt<AtVersion<B, V>, V, 'input'>;

type Simplify<T> = { [K in keyof T]: T[K] };

type RequestPartsOf<Types extends OperationTypes, V extends string> = ([PathNames<Types['path']>] extends [never]
  ? unknown
  : { readonly params: { readonly [Name in PathNames<Types['path']>]: string | number } }) &
  (RequestBodyAt<Types['body'], V> extends undefined ? unknown : { readonly body: RequestBodyAt<Types['body'], V> }) &
  (QueryAt<Types['query'], V> extends undefined ? unknown : { readonly query?: QueryAt<Types['query'], V> }) & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  };

/** The parts of a request to an operation at a version: path parameters, query, body, headers and abort signal. */
export type RequestParts<Api extends TypedApi, V extends string, K> = Simplify<
  RequestPartsOf<OperationTypesAt<Api, V, K>, V>
>;

/** The client arguments that follow the operation key. They are optional if the operation requires no request part. */
export type RequestArguments<Api extends TypedApi, V extends string, K> =
  Record<never, never> extends RequestParts<Api, V, K>
    ? [parts?: RequestParts<Api, V, K>]
    : [parts: RequestParts<Api, V, K>];

/** An error response body: problem details (RFC 9457), with additional members that the API defines. */
export interface ProblemDetails {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly [member: string]: unknown;
}

type ErrorStatusesAt<E, V extends string> =
  AtVersion<E, V> extends readonly (infer Status extends number)[] ? Status : never;

/** The body of an operation's successful response at a version. */
export type ResponseBody<Api extends TypedApi, V extends string, K> = ReplyAt<
  AtVersion<OperationTypesAt<Api, V, K>['reply'], V>,
  V
>;

/** The error statuses that an operation documents at a version. */
export type ErrorStatus<Api extends TypedApi, V extends string, K> = ErrorStatusesAt<
  OperationTypesAt<Api, V, K>['errors'],
  V
>;
