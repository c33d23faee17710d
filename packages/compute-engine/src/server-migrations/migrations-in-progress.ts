import type { MigrationStatus } from '../model/index.js';

/** Statuses of a live migration that is under way, as the API sees it. */
export const migrationsInProgress: readonly MigrationStatus[] = ['queued', 'preparing', 'running', 'post-migrating'];
