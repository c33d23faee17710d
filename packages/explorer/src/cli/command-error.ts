/** An error of the command line that the user can fix. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code = 'COMMAND_LINE';
  /** The page that documents causes and fixes. */
  readonly url = 'https://github.com/apistrata/apistrata/blob/main/docs/errors.md#explorer-command_line';

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
