/** All error codes in this package, with their HTTP statuses. */
export const errorCodes = { HEALTHCHECK_CONFIG_INVALID: 500, UNAVAILABLE: 503 } as const;

/** Base class of all errors in this package, with `name`, `code`, `status`, and the `url` of the error code's documentation. */
export abstract class HealthcheckError<Code extends keyof typeof errorCodes = keyof typeof errorCodes> extends Error {
  /** The HTTP response status. */
  readonly status: number;
  /** The URL of the page that documents the cause and the fix. */
  readonly url: string;

  /** @param code a stable code; the text of the message may change */
  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
    this.status = errorCodes[code];
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#healthcheck-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}

/** An invalid configuration. Thrown when the endpoint is created, never while it handles a request. */
export class HealthcheckConfigError extends HealthcheckError<'HEALTHCHECK_CONFIG_INVALID'> {
  /** The invalid option as it was written: `disableByFilePaths`, or `disable_by_file_paths` in a config record. */
  readonly option: string;
  /** Why the option is invalid. */
  readonly problem: string;
  /** The fix. */
  readonly fix: string;

  constructor(option: string, problem: string, fix: string) {
    super(
      'HEALTHCHECK_CONFIG_INVALID',
      `healthcheck option "${option}": ${problem}. ${fix}${/[.?]$/.test(fix) ? '' : '.'}`,
    );
    this.option = option;
    this.problem = problem;
    this.fix = fix;
  }

  /** Returns the same error with another spelling of the option name. */
  named(option: string): HealthcheckConfigError {
    return new HealthcheckConfigError(option, this.problem, this.fix);
  }
}

/** The error of an unavailable endpoint, which is passed to the option `errors`. Its message lists the reasons. */
export class HealthcheckUnavailable extends HealthcheckError<'UNAVAILABLE'> {
  /**
   * @param endpoint `healthcheck` for the main endpoint, otherwise the name of the group
   * @param reasons the reasons of all checks that are not available
   */
  constructor(
    readonly endpoint: string,
    readonly reasons: readonly string[],
  ) {
    super('UNAVAILABLE', reasons.join('; '));
  }
}
