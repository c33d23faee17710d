import type { Tx } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import type { FlavorCopy, MigrationRecord, MigrationType, New, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** The properties of a new migration. */
export interface NewMigration {
  /** UUID of the migration, which the request generates so that the job's arguments can contain the UUID. */
  readonly id: string;
  readonly type: MigrationType;
  /** The new flavor, if it changes. */
  readonly flavor?: FlavorCopy;
}

/** Stores the record of a migration before the migration starts. */
export async function beginMigration(
  tx: Tx,
  core: Core,
  { caller }: Context,
  server: Server,
  { id, type, flavor = server.flavor }: NewMigration,
): Promise<MigrationRecord> {
  const [before, after] = await Promise.all([server.flavor, flavor].map(({ id }) => tables.flavors.get(tx, id)));
  const record: New<MigrationRecord> = {
    id,
    serverId: server.id,
    projectId: caller.projectId,
    userId: caller.userId,
    type,
    status: type === 'migration' || type === 'resize' ? 'pre-migrating' : 'accepted',
    sourceHost: server.host,
    sourceNode: server.node,
    destHost: null,
    destNode: null,
    oldFlavorSeq: before?.seq ?? null,
    newFlavorSeq: after?.seq ?? null,
    memoryTotalBytes: 0,
    memoryProcessedBytes: 0,
    memoryRemainingBytes: 0,
    diskTotalBytes: 0,
    diskProcessedBytes: 0,
    diskRemainingBytes: 0,
    hidden: false,
    createdAt: core.clock.now(),
    updatedAt: null,
  };
  return tables.migrations.insert(tx, record);
}

export type MigrationPatch = Partial<Omit<MigrationRecord, 'id' | 'seq' | 'revision'>>;

/** Changes a migration record. No-op if the record no longer exists. */
export async function changeMigration(tx: Tx, core: Core, id: string, patch: MigrationPatch): Promise<void> {
  const migration = await tables.migrations.lock(tx, id);
  if (migration) await tables.migrations.update(tx, { ...migration, ...patch, updatedAt: core.clock.now() });
}

/** Returns the migration with the given UUID. Throws an error if it does not exist. */
export async function getMigration({ store }: Core, id: string): Promise<MigrationRecord> {
  const migration = await tables.migrations.get(store, id);
  if (!migration) throw new Error(`Migration ${id} could not be found.`);
  return migration;
}

/** Locks the migration with the given UUID until the transaction ends, and returns it. */
export async function lockMigration(tx: Tx, id: string): Promise<MigrationRecord> {
  const migration = await tables.migrations.lock(tx, id);
  if (!migration) throw new Error(`Migration ${id} could not be found.`);
  return migration;
}

/** Ends the incomplete migrations of a server that is deleted or whose state is reset. */
export async function endMigrations(tx: Tx, core: Core, serverId: string): Promise<void> {
  const openMigrations = await tables.migrations.find(tx, (q) =>
    q.where('server_id', '=', serverId).where('status', 'not in', [...ENDED_STATUSES]),
  );
  for (const migration of openMigrations) {
    const isConfirmed = migration.status === 'finished' || migration.status === 'confirming';
    const status = isConfirmed ? 'confirmed' : migration.type === 'live-migration' ? 'cancelled' : 'error';
    await tables.migrations.update(tx, { ...migration, status, updatedAt: core.clock.now() });
  }
}

/**
 * Statuses of ended migrations. An evacuation remains `done` until its source host has removed the server's resources.
 */
const ENDED_STATUSES = ['confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done'] as const;
