import { StoreError } from './store-error.js';

/** Thrown if a write fails because the record was changed after it was read. The transaction is retried. */
export class StaleRecord extends StoreError<'STALE_RECORD'> {
  constructor(message: string) {
    super('STALE_RECORD', message);
  }
}
