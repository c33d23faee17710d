import { EngineError } from '../errors/engine-error.js';

/** Thrown if no host with sufficient capacity passes every filter. `reasons` counts the rejected hosts by filter. */
export class NoValidHost extends EngineError<'NO_VALID_HOST'> {
  readonly reasons: Readonly<Record<string, number>>;

  /** @param reason the second sentence of the message */
  constructor(reasons: Readonly<Record<string, number>>, reason = 'There are not enough hosts available.') {
    super('NO_VALID_HOST', `No valid host was found. ${reason}`);
    this.reasons = reasons;
  }
}
