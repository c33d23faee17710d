import { commonFields, extendedFields, requestFields, type ServerField, type ServerRequest } from './server-fields.js';

const all = { ...commonFields, ...extendedFields, ...requestFields } as const;
type All = typeof all;

type FieldFilters = {
  readonly [F in keyof All as All[F] extends { readonly filter: unknown } ? F : never]: All[F] extends {
    readonly filter: infer T;
  }
    ? T
    : never;
};

/** The filters that fields are. */
export const fieldFilters = Object.fromEntries(
  Object.entries<ServerField>(all).flatMap(([name, { filter }]) => (filter ? [[name, filter]] : [])),
) as FieldFilters;

type RequestShape<K extends ServerRequest> = {
  readonly [F in keyof All as All[F] extends Readonly<Record<K, unknown>> ? F : never]: All[F] extends Readonly<
    Record<K, infer S>
  >
    ? S
    : never;
};

/** The fields that a request takes, for its schema. */
export function fieldsOf<K extends ServerRequest>(request: K): RequestShape<K> {
  const fields = Object.entries<ServerField>(all);
  return Object.fromEntries(
    fields.flatMap(([name, { [request]: schema }]) => (schema ? [[name, schema]] : [])),
  ) as RequestShape<K>;
}

type KeptName<F> = F extends keyof All ? (All[F] extends { readonly kept: infer N extends string } ? N : never) : never;

const keptNames = Object.entries<ServerField>(all).flatMap(([name, { kept }]) => (kept ? [[name, kept] as const] : []));

/** What a request says, by the engine's names; what it leaves out is left out. */
export function keptOf<B extends object>(body: B): { readonly [F in keyof B as KeptName<F>]: B[F] } {
  const given = body as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    keptNames.flatMap(([name, kept]) => (given[name] === undefined ? [] : [[kept, given[name]]])),
  ) as { readonly [F in keyof B as KeptName<F>]: B[F] };
}
