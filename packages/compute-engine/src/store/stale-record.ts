import { EngineError } from '../engine-error.js';

/** A write met a record that somebody else had changed since it was read. The transaction is tried again. */
export class StaleRecord extends EngineError<'STALE_RECORD'> {
  constructor(message: string) {
    super('STALE_RECORD', message);
  }
}
