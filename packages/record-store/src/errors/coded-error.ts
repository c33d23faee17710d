/** Options for a coded error: its `cause`, and the HTTP status (default: 500). */
export interface CodedErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/**
 * Base class for a package's errors, with a `name`, a `code`, a `status`, and the `url` of the code's documentation.
 */
export abstract class CodedError<Code extends string = string> extends Error {
  /** A stable error code for comparisons. The text of a message may change. */
  readonly code: Code;
  /** The HTTP status of a response to this error; 500 if the request did not cause it. */
  readonly status: number;
  /** URL of the page that explains causes and fixes, for developers. It is never part of a response. */
  readonly url: string;

  /** @param packageName the package name without its scope, as in `docs/errors.md` */
  constructor(packageName: string, code: Code, message: string, { status = 500, ...options }: CodedErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#${packageName}-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
