import { CodedError, type CodedErrorOptions } from '@apistrata/compute-engine/api';

/** The error codes of this package. */
export const errorCodes = ['COMMAND_LINE', 'REQUEST_REJECTED'] as const;

/** The base class of this package's errors, with a `name`, a `code`, a `status`, and the `url` of the documentation. */
export abstract class TestCloudError extends CodedError<(typeof errorCodes)[number]> {
  constructor(code: (typeof errorCodes)[number], message: string, options?: CodedErrorOptions) {
    super('test-cloud', code, message, options);
  }
}
