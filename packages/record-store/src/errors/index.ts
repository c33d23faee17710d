export { DatabaseInUse } from '../sqlite/sqlite-owner.js';
export { CodedError, type CodedErrorOptions } from './coded-error.js';
export { DatabaseTooNew } from './database-too-new.js';
export { type DatabaseFailure, DatabaseUnavailable, databaseError, isOutage } from './database-unavailable.js';
export { StaleRecord } from './stale-record.js';
export { StoreError, type StoreErrorCode } from './store-error.js';
