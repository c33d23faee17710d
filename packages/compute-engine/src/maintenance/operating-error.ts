import { EngineError } from '../errors/engine-error.js';

/** Something that an operator asked for cannot be done. The message names the cause and the cure. */
export class OperatingError extends EngineError<'OPERATING'> {
  constructor(message: string) {
    super('OPERATING', message);
  }
}
