/** The error codes of this package. */
export const errorCodes = ['COMMAND_LINE', 'OPENAPI_DOCUMENT'] as const;

/** Base class for all errors of this package. */
export abstract class ExplorerError extends Error {
  readonly code: (typeof errorCodes)[number];
  /** URL of the page that documents causes and fixes. */
  readonly url: string;

  constructor(code: (typeof errorCodes)[number], message: string) {
    super(message);
    this.code = code;
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#explorer-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
