/**
 * An error that the user who starts the program can fix. The message is one line with the option, the cause and the
 * fix.
 */
export class StartError extends Error {
  /** The exit code of the program. */
  readonly exitCode: number = 1;
}
