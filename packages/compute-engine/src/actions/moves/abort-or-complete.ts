import type { ServerScope } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { MigrationStatus } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { findMigration } from '../../server-migrations/find-migration.js';
import type { StartedAction } from '../runner/action.js';
import type { LiveMoveArguments } from './live-move.js';

/**
 * Checks a request to abort or force-complete a live migration. Throws a 400 error unless the migration has one of the
 * given statuses.
 * @param migrationNumber the migration's integer id in request paths
 * @param forced whether the request forces the migration to complete; stored in the migration record
 */
export async function beginAbortOrComplete(
  { core, server }: ServerScope,
  migrationNumber: string,
  statuses: readonly MigrationStatus[],
  forced = false,
): Promise<StartedAction<LiveMoveArguments, void>> {
  const { id } = await findMigration(core, server, migrationNumber);
  return {
    arguments: { migrationId: id },
    change: async (tx) => {
      const migration = await tables.migrations.lock(tx, id);
      if (migration?.type !== 'live-migration' || !statuses.includes(migration.status))
        throw badRequest(
          `Migration ${migrationNumber} of instance ${server.id} is ${migration?.status}, but must be ${statuses.join(' or ')}.`,
        );
      if (forced) await tables.migrations.update(tx, { ...migration, forced });
      return undefined;
    },
  };
}
