/** Every code of this package's errors. */
export const errorCodes = [
  'QEMU_MISSING',
  'DIRECTORY_UNUSABLE',
  'ACCELERATION_MISSING',
  'PROGRAM_FAILED',
  'MACHINE_ENDED',
  'MACHINE_NOT_RUNNING',
  'MACHINE_REFUSED',
  'DISK_IN_USE',
  'NETWORKS_UNAVAILABLE',
  'GUEST_TIMEOUT',
  'GUEST_REFUSED',
  'IMAGE_REFUSED',
  'MOVE_FAILED',
  'MOVE_COMPLETED',
  'NOT_POSSIBLE',
] as const;

/** What makes machines impossible here, or one of them fail. Stable; the text of a message may change. */
export type QemuErrorCode = (typeof errorCodes)[number];

/** Everything that the driver throws of its own; the message is what administrators read. */
export class QemuError extends Error {
  /** The page that tells cause and cure. */
  readonly url: string;

  constructor(
    readonly code: QemuErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#qemu-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}
