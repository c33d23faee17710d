import { StoreError } from './store-error.js';

/** The database has changes that this version knows nothing of, and that take away what it uses. */
export class DatabaseTooNew extends StoreError<'DATABASE_TOO_NEW'> {
  constructor(unknown: readonly string[]) {
    super(
      'DATABASE_TOO_NEW',
      `It was made by a newer version of this software (${unknown.join(', ')} is unknown to this one). Run that version, or give this one a database of its own.`,
    );
  }
}
