import { existsAt, type Operation } from '../router/operation.js';
import { prepare } from '../router/router.js';
import type { Version } from '../version.js';

/** A request and its answer, for the documents. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

/** Gives the example of an operation, made for that version or any other one: what does not fit is not shown. */
export type ExampleOf = (operation: Operation, version: Version) => Example | undefined;

/** Request and answer of an example, each where the operation's own schema of the version accepts it. */
export function exampleAt(
  exampleOf: ExampleOf | undefined,
  operation: Operation,
  version: Version,
): Example | undefined {
  const example = existsAt(operation, version) ? exampleOf?.(operation, version) : undefined;
  if (!example) return undefined;
  const { body, reply } = prepare(operation);
  const { request, response } = example;
  const asked = request !== undefined && body?.at(version)?.safeParse(request).success;
  const answered = response !== undefined && reply?.schema(version).safeParse(response).success;
  if (!asked && !answered) return undefined;
  return { ...(asked && { request }), ...(answered && { response }) };
}
