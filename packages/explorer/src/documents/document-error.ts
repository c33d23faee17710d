import { ExplorerError } from '../errors.js';

/** An OpenAPI document cannot be read, or documents do not belong together. */
export class DocumentError extends ExplorerError {
  override readonly name = 'DocumentError';

  constructor(message: string) {
    super('OPENAPI_DOCUMENT', message);
  }
}
