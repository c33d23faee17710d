/** Something that an operator asked for cannot be done. The message names the cause and the cure. */
export class OperatingError extends Error {
  override readonly name = 'OperatingError';
  readonly code = 'OPERATING';
}
