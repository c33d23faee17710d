/** The caller may not do this. Carries the message that clients show. */
export class PolicyDenied extends Error {
  readonly code = 'POLICY_DENIED';
  readonly status = 403;
  readonly docs = 'docs/policies.md';

  constructor(readonly rule: string) {
    super(`Policy doesn't allow ${rule} to be performed.`);
    this.name = 'PolicyDenied';
  }
}

/** An expression that cannot be read. `column` counts from 1. */
export class PolicySyntaxError extends Error {
  readonly code = 'POLICY_SYNTAX';
  readonly status = 500;
  readonly docs = 'docs/policies.md#expressions';

  constructor(
    problem: string,
    readonly expression: string,
    readonly column: number,
  ) {
    super(`${problem} at column ${column} of ${JSON.stringify(expression)}`);
    this.name = 'PolicySyntaxError';
  }
}

/** Where a rule was written: a file and a line, or the `overrides` option. */
export interface PolicySource {
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
}

/** Policies that cannot be used; thrown when they are built, never later. The message begins with `file:line:`. */
export class PolicyConfigError extends Error {
  readonly code = 'POLICY_CONFIG';
  readonly status = 500;
  readonly docs = 'docs/policies.md#overrides';
  readonly file: string | undefined;
  readonly line: number | undefined;

  constructor(problem: string, source: PolicySource = {}, cause?: unknown) {
    const place = source.file === undefined ? 'policies({ overrides })' : `${source.file}:${source.line ?? 1}`;
    super(`${place}: ${problem}`, { cause });
    this.name = 'PolicyConfigError';
    this.file = source.file;
    this.line = source.line;
  }
}
