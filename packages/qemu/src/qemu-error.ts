/** All error codes of this package. */
export const errorCodes = [
  'QEMU_MISSING',
  'DIRECTORY_UNUSABLE',
  'ACCELERATION_MISSING',
  'CPU_UNAVAILABLE',
  'PROGRAM_FAILED',
  'MACHINE_ENDED',
  'MACHINE_NOT_RUNNING',
  'HOST_FENCED',
  'QEMU_COMMAND_FAILED',
  'DISK_IN_USE',
  'DISK_FULL',
  'VOLUME_POOL_UNUSABLE',
  'NETWORKS_UNAVAILABLE',
  'GUEST_TIMEOUT',
  'GUEST_COMMAND_FAILED',
  'IMAGE_REJECTED',
  'MOVE_FAILED',
  'MOVE_COMPLETED',
  'UNSUPPORTED',
] as const;

/** Why virtual machines cannot run on this computer, or why an operation failed. Codes are stable, but messages may change. */
export type QemuErrorCode = (typeof errorCodes)[number];

/** The base class of the QEMU driver's errors. Messages are for administrators. */
export class QemuError extends Error {
  /** The URL of a page that describes the error's cause and fix. */
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
