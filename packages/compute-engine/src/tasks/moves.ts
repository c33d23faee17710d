import { getMigration } from '../migrations/migration-record.js';
import type { MigrationRecord } from '../model/index.js';
import type { TaskRun } from './task-run.js';

/** The migration that a job works on. */
export function migrationOf(run: TaskRun): Promise<MigrationRecord> {
  return getMigration(run.core, run.arguments.migrationId);
}
