import { CodedError, type CodedErrorOptions } from '@apistrata/compute-engine/api';

/** Every code of this package's errors. */
export const errorCodes = ['COMMAND_LINE', 'SERVICE_REFUSED'] as const;

/** What all errors of this package are: `name`, `code`, `status`, and the `url` of what the code means. */
export abstract class TestCloudError extends CodedError<(typeof errorCodes)[number]> {
  constructor(code: (typeof errorCodes)[number], message: string, options?: CodedErrorOptions) {
    super('test-cloud', code, message, options);
  }
}
