import type { z } from 'zod';
import { existsAt, type Operation } from '../router/operation.js';
import { prepare } from '../router/router.js';
import type { Version } from '../version.js';

/** A request and its answer, for the documents. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

/**
 * Gives the example of an operation, or several that were made at different versions, the preferred one first. They need
 * not fit the version: what does not fit is not shown.
 */
export type ExampleOf = (operation: Operation, version: Version) => Example | readonly Example[] | undefined;

/** The first request and the first answer that the operation's own schemas of the version accept. */
export function exampleAt(
  exampleOf: ExampleOf | undefined,
  operation: Operation,
  version: Version,
): Example | undefined {
  const given = existsAt(operation, version) ? [exampleOf?.(operation, version) ?? []].flat() : [];
  if (given.length === 0) return undefined;
  const { body, reply } = prepare(operation);
  const accepts = (schema: z.ZodType | undefined) => (value: unknown) =>
    value !== undefined && schema?.safeParse(value).success;
  const request = given.map((each) => each.request).find(accepts(body?.at(version)));
  const response = given.map((each) => each.response).find(accepts(reply?.schema(version)));
  if (request === undefined && response === undefined) return undefined;
  return { ...(request !== undefined && { request }), ...(response !== undefined && { response }) };
}
