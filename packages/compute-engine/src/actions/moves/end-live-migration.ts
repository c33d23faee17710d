import type { ServerScope } from '../../core/core.js';
import { badRequest } from '../../errors/refusal.js';
import type { MigrationStatus } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { findMigration } from '../../server-migrations/find-migration.js';
import type { Begun } from '../runner/action.js';
import type { LiveMoveArguments } from './live-move.js';

/**
 * Begins to end a live migration before its time; 400 unless it is in one of these statuses.
 * @param number of the migration, as paths use it
 */
export async function beginEnd(
  { core, server }: ServerScope,
  number: string,
  statuses: readonly MigrationStatus[],
): Promise<Begun<LiveMoveArguments, void>> {
  const { id } = await findMigration(core, server, number);
  return {
    arguments: { migrationId: id },
    change: async (tx) => {
      const migration = await tables.migrations.lock(tx, id);
      if (migration?.type !== 'live-migration' || !statuses.includes(migration.status))
        throw badRequest(
          `Migration ${number} of instance ${server.id} is ${migration?.status}, and has to be ${statuses.join(' or ')}.`,
        );
      return undefined;
    },
  };
}
