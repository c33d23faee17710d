import { StoreError } from './store-error.js';

/** Thrown if a newer version of the software removed something from the database that this version uses. */
export class DatabaseTooNew extends StoreError<'DATABASE_TOO_NEW'> {
  constructor(unknownChanges: readonly string[]) {
    super(
      'DATABASE_TOO_NEW',
      `The database was created by a newer version of this software (${unknownChanges.join(', ')} is unknown to this one). Run that version, or use another database.`,
    );
  }
}
