import { ComputeRouterError } from '../errors.js';

/** The operation existed once and was removed from all versions (410). */
export class GoneError extends ComputeRouterError<'GONE'> {
  constructor(message: string) {
    super('GONE', message);
  }
}
