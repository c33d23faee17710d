import type { z } from 'zod';
import { RequestError } from '../request-error.js';
import type { QueryProblem } from '../schema/index.js';

export { BodyTooComplex } from '../json-limits.js';
export { RequestError };

/** No operation has this path and method. */
export class NoRoute extends RequestError {
  readonly code = 'NO_ROUTE';
  readonly status = 404;
}

/** The body has more bytes than may be. */
export class BodyTooLarge extends RequestError {
  readonly code = 'BODY_TOO_LARGE';
  readonly status = 413;
}

/** The body is of another type than JSON. */
export class UnsupportedMediaType extends RequestError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE';
  readonly status = 415;
}

/** The body is no JSON, or breaks off. */
export class MalformedBody extends RequestError {
  readonly code = 'MALFORMED_BODY';
  readonly status = 400;
}

/** The body of an action path names no action, several, or one that nobody knows. */
export class UnknownAction extends RequestError {
  readonly code = 'UNKNOWN_ACTION';
  readonly status = 400;
}

/** The body broke its schema. `issues` are zod's; `input` is what was checked. */
export class InvalidBody extends RequestError {
  readonly code = 'INVALID_BODY';
  readonly status = 400;
  readonly issues: readonly z.core.$ZodIssue[];
  readonly input: unknown;

  constructor(issues: readonly z.core.$ZodIssue[], input: unknown) {
    super(`the body is invalid: ${issues[0]?.path.join('.') || 'body'}: ${issues[0]?.message}`);
    this.issues = issues;
    this.input = input;
  }
}

/** The query string broke its schema. */
export class InvalidQuery extends RequestError {
  readonly code = 'INVALID_QUERY';
  readonly status = 400;
  readonly problems: readonly QueryProblem[];

  constructor(problems: readonly QueryProblem[]) {
    super(`the query parameter ${problems[0]?.parameter} is invalid: ${problems[0]?.issues[0]?.message}`);
    this.problems = problems;
  }
}

/** The answer does not fit its own schema: a defect of the API, found by `validateReplies`. */
export class InvalidReply extends Error {
  readonly code = 'INVALID_REPLY';
  readonly status = 500;
}
