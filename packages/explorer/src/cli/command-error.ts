/** Something about the command line that its user can put right. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code = 'COMMAND_LINE';
  /** The page that tells cause and cure. */
  readonly url = 'https://github.com/apistrata/apistrata/blob/main/docs/errors.md#explorer-command_line';

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
