/** Options of a coded error: its `cause`, and the HTTP status (default: 500). */
export interface CodedErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/** Base class of all errors of a package: `name`, `code`, `status`, and the `url` of the code's documentation. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** Stable error code for comparisons; the text of a message may change. */
  readonly code: Code;
  /** The HTTP status; 500 if the request is not the cause. */
  readonly status: number;
  /** The page that explains causes and fixes; for developers, never part of a response. */
  readonly url: string;

  /** @param home the package without its scope, as in `docs/errors.md` */
  constructor(home: string, code: Code, message: string, { status = 500, ...options }: CodedErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#${home}-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
