import { ComputeRouterError } from '../errors.js';

/** The operation existed once and is gone for good, at every version. */
export class Gone extends ComputeRouterError<'GONE'> {
  constructor(message: string) {
    super('GONE', message);
  }
}
