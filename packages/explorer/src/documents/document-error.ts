import { ExplorerError } from '../errors.js';

/**
 * Thrown if an OpenAPI document cannot be read or is invalid, or if the versions of several documents are malformed,
 * repeated or in different formats.
 */
export class DocumentError extends ExplorerError {
  override readonly name = 'DocumentError';

  constructor(message: string) {
    super('OPENAPI_DOCUMENT', message);
  }
}
