import { MicroversionError, RequestError } from '@apistrata/microversion';
import type { QueryProblem } from '@apistrata/microversion/schema';
import type { z } from 'zod';

/** The error of a request body that does not match its schema. `issues` come from zod; `input` is the invalid body. */
export class InvalidBody extends RequestError<'INVALID_BODY'> {
  readonly issues: readonly z.core.$ZodIssue[];
  readonly input: unknown;

  constructor(issues: readonly z.core.$ZodIssue[], input: unknown) {
    super('INVALID_BODY', `the body is invalid: ${issues[0]?.path.join('.') || 'body'}: ${issues[0]?.message}`);
    this.issues = issues;
    this.input = input;
  }
}

/** The error of a query string that does not match its schema. */
export class InvalidQuery extends RequestError<'INVALID_QUERY'> {
  readonly problems: readonly QueryProblem[];

  constructor(problems: readonly QueryProblem[]) {
    const [first] = problems;
    super('INVALID_QUERY', `the query parameter ${first?.parameter} is invalid: ${first?.issues[0]?.message}`);
    this.problems = problems;
  }
}

/** The error for a response that does not match its schema: a defect in the API that `validateReplies` detects. */
export class InvalidReply extends MicroversionError<'INVALID_RESPONSE'> {
  constructor(message: string) {
    super('INVALID_RESPONSE', message);
  }
}
