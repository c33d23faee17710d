import { ExplorerError } from '../errors.js';

/**
 * Thrown if an OpenAPI document cannot be read or is invalid, or if the versions of several documents do not fit
 * together.
 */
export class DocumentError extends ExplorerError {
  override readonly name = 'DocumentError';

  constructor(message: string) {
    super('OPENAPI_DOCUMENT', message);
  }
}
