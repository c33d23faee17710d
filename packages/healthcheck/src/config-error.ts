/** An invalid configuration. Thrown when the endpoint is built, never while it handles a request. */
export class HealthcheckConfigError extends Error {
  /** Stable; the text of the message may change. */
  readonly code = 'HEALTHCHECK_CONFIG_INVALID';
  /** For error handlers that see it because the endpoint was built within a request. */
  readonly status = 500;
  /** The page with cause and fix. */
  readonly url =
    'https://github.com/apistrata/apistrata/blob/main/docs/errors.md#healthcheck-healthcheck_config_invalid';
  /** The option at fault, as it was written: `disableByFilePaths`, or `disable_by_file_paths` in a config record. */
  readonly option: string;
  /** What is wrong. */
  readonly problem: string;
  /** What to write instead. */
  readonly cure: string;

  constructor(option: string, problem: string, cure: string) {
    super(`healthcheck option "${option}": ${problem}. ${cure}${/[.?]$/.test(cure) ? '' : '.'}`);
    this.name = 'HealthcheckConfigError';
    this.option = option;
    this.problem = problem;
    this.cure = cure;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }

  /** The same error about an option that is spelled differently where it was written. */
  named(option: string): HealthcheckConfigError {
    return new HealthcheckConfigError(option, this.problem, this.cure);
  }
}
