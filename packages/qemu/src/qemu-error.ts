/** What makes machines impossible here, or one of them fail. */
export type QemuErrorCode =
  | 'QEMU_MISSING'
  | 'DIRECTORY_UNUSABLE'
  | 'ACCELERATION_MISSING'
  | 'PROGRAM_FAILED'
  | 'MACHINE_ENDED'
  | 'MACHINE_NOT_RUNNING'
  | 'MACHINE_REFUSED'
  | 'GUEST_TIMEOUT'
  | 'IMAGE_REFUSED'
  | 'NOT_POSSIBLE';

/** Everything that the driver throws of its own; the message is what administrators read. */
export class QemuError extends Error {
  override readonly name = 'QemuError';

  constructor(
    readonly code: QemuErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
