import type { z } from 'zod';
import { MicroversionError, RequestError } from '../errors.js';
import type { QueryProblem } from '../schema/index.js';

/** The body broke its schema. `issues` are zod's; `input` is what was checked. */
export class InvalidBody extends RequestError<'INVALID_BODY'> {
  readonly issues: readonly z.core.$ZodIssue[];
  readonly input: unknown;

  constructor(issues: readonly z.core.$ZodIssue[], input: unknown) {
    super('INVALID_BODY', `the body is invalid: ${issues[0]?.path.join('.') || 'body'}: ${issues[0]?.message}`);
    this.issues = issues;
    this.input = input;
  }
}

/** The query string broke its schema. */
export class InvalidQuery extends RequestError<'INVALID_QUERY'> {
  readonly problems: readonly QueryProblem[];

  constructor(problems: readonly QueryProblem[]) {
    const [first] = problems;
    super('INVALID_QUERY', `the query parameter ${first?.parameter} is invalid: ${first?.issues[0]?.message}`);
    this.problems = problems;
  }
}

/** The answer does not fit its own schema: a defect of the API, found by `validateReplies`. */
export class InvalidReply extends MicroversionError<'INVALID_REPLY'> {
  constructor(message: string) {
    super('INVALID_REPLY', message);
  }
}
