import { ComputeRouterError } from '../errors.js';

/** Thrown by operations that were removed from all versions; the response is a 410. */
export class GoneError extends ComputeRouterError<'GONE'> {
  constructor(message: string) {
    super('GONE', message);
  }
}
