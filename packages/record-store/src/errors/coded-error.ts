/** What a coded error may have besides: its `cause`, and the HTTP status that fits (500 unless told). */
export interface CodedErrorOptions extends ErrorOptions {
  readonly status?: number;
}

/** What the errors of a package have in common: `name`, `code`, `status`, and the `url` of what their code means. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** Stable, so that programs may compare it; the text of a message may change. */
  readonly code: Code;
  /** The HTTP status that fits, 500 where no request is to blame. */
  readonly status: number;
  /** The page that tells cause and cure; for developers, never part of an answer. */
  readonly url: string;

  /** @param home the package without its scope, as `docs/errors.md` names it */
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
