import { ExplorerError } from '../errors.js';

/** An error of the command line that the user can fix. */
export class CommandError extends ExplorerError {
  override readonly name = 'CommandError';

  constructor(message: string) {
    super('COMMAND_LINE', message);
  }
}
