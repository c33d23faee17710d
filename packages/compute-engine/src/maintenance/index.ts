export { type HostRole, hostRoleSql } from '../hosts/rights/host-rights.js';
export { type BackupOptions, type BackupReport, backupDatabase } from './backup-database.js';
export { type CheckOptions, checkDatabase, type Finding } from './check-database.js';
export { type DatabaseStatus, databaseStatus } from './database-status.js';
export { type GrantedHostRole, grantHostRole, hostKeysOf } from './host-role.js';
export { MaintenanceError } from './maintenance-error.js';
export { type RestoreOptions, type RestoreReport, restoreDatabase } from './restore-database.js';
