import { EngineError } from '../errors/engine-error.js';

/** Thrown if a maintenance command fails. The message contains the cause and the fix. */
export class MaintenanceError extends EngineError<'MAINTENANCE_FAILED'> {
  constructor(message: string) {
    super('MAINTENANCE_FAILED', message);
  }
}
