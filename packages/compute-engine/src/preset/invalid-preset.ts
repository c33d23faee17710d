import { EngineError } from '../errors/engine-error.js';

/** A preset that cannot be: the message names the path of the first fault. */
export class InvalidPreset extends EngineError<'INVALID_PRESET'> {
  /** Where the fault is: `hosts.0.vcpus`; empty for the whole. */
  readonly path: string;

  constructor(path: string, message: string) {
    super('INVALID_PRESET', `preset${path && `.${path}`}: ${message}`);
    this.path = path;
  }
}
