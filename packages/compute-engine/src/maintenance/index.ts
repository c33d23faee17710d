export { type BackupOptions, type BackupReport, backupDatabase } from './backup-database.js';
export { type CheckOptions, checkDatabase, type Finding } from './check-database.js';
export { type DatabaseStatus, databaseStatus } from './database-status.js';
export { OperatingError } from './operating-error.js';
export { type RestoreOptions, type RestoreReport, restoreDatabase } from './restore-database.js';
