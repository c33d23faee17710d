import { EngineError } from '../errors/engine-error.js';

/** Thrown for an invalid preset; the message names the path of the first error. */
export class InvalidPreset extends EngineError<'INVALID_PRESET'> {
  /** Path of the error, such as `hosts.0.vcpus`; empty for the preset itself. */
  readonly path: string;

  constructor(path: string, message: string) {
    super('INVALID_PRESET', `preset${path && `.${path}`}: ${message}`);
    this.path = path;
  }
}
