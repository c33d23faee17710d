import { EngineError } from '../errors/engine-error.js';

/** No host passed every filter with capacity left; `reasons` counts by filter how many hosts it turned away. */
export class NoValidHost extends EngineError<'NO_VALID_HOST'> {
  readonly reasons: Readonly<Record<string, number>>;

  constructor(reasons: Readonly<Record<string, number>>) {
    super('NO_VALID_HOST', 'No valid host was found. There are not enough hosts available.');
    this.reasons = reasons;
  }
}
