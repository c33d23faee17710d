import type { Version } from '@apistrata/microversion';
import type { z } from 'zod';
import { existsAt, type Operation } from '../router/operation.js';
import { compileOperation } from '../router/router.js';

/** An example request and its response, for the API documents. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

/**
 * Returns the examples of an operation, the preferred one first. A document contains the first request and the first
 * response that match the schemas of its version.
 */
export type ExampleOf = (operation: Operation, version: Version) => Example | readonly Example[] | undefined;

/** Returns the first example request and the first example response that the schemas of the version accept. */
export function exampleAt(
  exampleOf: ExampleOf | undefined,
  operation: Operation,
  version: Version,
): Example | undefined {
  const candidates = existsAt(operation, version) ? [exampleOf?.(operation, version) ?? []].flat() : [];
  if (candidates.length === 0) return undefined;
  const { body, reply } = compileOperation(operation);
  const isAcceptedBy = (schema: z.ZodType | undefined) => (value: unknown) =>
    value !== undefined && schema?.safeParse(value).success;
  const request = candidates.map((example) => example.request).find(isAcceptedBy(body?.at(version)));
  const response = candidates.map((example) => example.response).find(isAcceptedBy(reply?.schema(version)));
  if (request === undefined && response === undefined) return undefined;
  return { ...(request !== undefined && { request }), ...(response !== undefined && { response }) };
}
