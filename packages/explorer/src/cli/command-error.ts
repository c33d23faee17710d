import { ExplorerError } from '../errors.js';

/** A command-line error that the user can fix. */
export class CommandError extends ExplorerError {
  override readonly name = 'CommandError';

  constructor(message: string) {
    super('COMMAND_LINE', message);
  }
}
