/** A mistake of whoever starts the program; its message, one line with the option, the cause and the cure, is all they need. */
export class StartError extends Error {
  /** What the program ends with. */
  readonly exitCode: number = 1;
}
