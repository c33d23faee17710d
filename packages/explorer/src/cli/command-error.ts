/** Something about the command line that its user can put right. */
export class CommandError extends Error {
  readonly code = 'COMMAND_LINE';
}
