import { ComputeRouterError } from '../errors.js';

/** Thrown if the policy does not allow the operation. Clients see the message. */
export class PolicyDenied extends ComputeRouterError<'POLICY_DENIED'> {
  constructor(readonly rule: string) {
    super('POLICY_DENIED', `Policy doesn't allow ${rule} to be performed.`);
  }
}

/** Thrown if a policy expression is malformed. `column` starts at 1. */
export class PolicySyntaxError extends ComputeRouterError<'POLICY_SYNTAX'> {
  constructor(
    problem: string,
    readonly expression: string,
    readonly column: number,
  ) {
    super('POLICY_SYNTAX', `${problem} at column ${column} of ${JSON.stringify(expression)}`);
  }
}

/** Where a rule was defined: a line in a policy file, or the `overrides` option. */
export interface PolicySource {
  readonly file?: string;
  /** Line number in the policy file, starting at 1. */
  readonly line?: number;
}

/** Thrown if policies are invalid when they are created or reloaded. The message starts with `file:line:`. */
export class PolicyConfigError extends ComputeRouterError<'POLICY_CONFIG'> {
  readonly file: string | undefined;
  readonly line: number | undefined;

  constructor(problem: string, source: PolicySource = {}, cause?: unknown) {
    const place = source.file === undefined ? 'policies({ overrides })' : `${source.file}:${source.line ?? 1}`;
    super('POLICY_CONFIG', `${place}: ${problem}`, { cause });
    this.file = source.file;
    this.line = source.line;
  }
}
