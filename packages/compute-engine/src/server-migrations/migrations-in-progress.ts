import type { MigrationStatus } from '../model/index.js';

/** Statuses of live migrations that the API considers in progress. */
export const migrationsInProgress: readonly MigrationStatus[] = ['queued', 'preparing', 'running', 'post-migrating'];
