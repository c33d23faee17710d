/** A preset that cannot be: the message names the path of the first fault. */
export class InvalidPreset extends Error {
  override readonly name = 'InvalidPreset';
  readonly code = 'INVALID_PRESET';
  /** Where the fault is: `hosts.0.vcpus`; empty for the whole. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(`preset${path && `.${path}`}: ${message}`);
    this.path = path;
  }
}
