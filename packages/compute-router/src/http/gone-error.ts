import { ComputeRouterError } from '../errors.js';

/** The operation was removed from all versions (410). */
export class GoneError extends ComputeRouterError<'GONE'> {
  constructor(message: string) {
    super('GONE', message);
  }
}
