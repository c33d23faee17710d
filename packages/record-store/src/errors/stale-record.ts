import { StoreError } from './store-error.js';

/** A write met a record that somebody else had changed since it was read. The transaction is tried again. */
export class StaleRecord extends StoreError<'STALE_RECORD'> {
  constructor(message: string) {
    super('STALE_RECORD', message);
  }
}
