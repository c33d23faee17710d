import type { Session } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { MigrationStatus } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { changeMigration } from '../../server-migrations/migration-record.js';
import type { StartedAction } from '../runner/action.js';

/** Arguments of the job that confirms or reverts a resize or cold migration. */
export interface PendingMoveArguments {
  readonly migrationId: string;
}

/**
 * Checks a request to confirm or revert a resize or cold migration. Throws a 400 error unless the server's move is
 * finished.
 */
export async function beginConfirmOrRevert(
  { core, server }: ServerScope,
  status: MigrationStatus,
): Promise<StartedAction<PendingMoveArguments, void>> {
  const findFinished = async (session: Session) => {
    const [migration] = await tables.migrations.find(session, (q) =>
      q.where('server_id', '=', server.id).where('status', '=', 'finished').orderBy('seq', 'desc').limit(1),
    );
    return migration?.id;
  };
  const notResizedError = badRequest(`Instance ${server.id} has not been resized.`);
  const migrationId = await findFinished(core.store);
  if (migrationId === undefined) throw notResizedError;
  return {
    arguments: { migrationId },
    change: async (tx) => {
      if ((await findFinished(tx)) !== migrationId) throw notResizedError;
      await changeMigration(tx, core, migrationId, { status });
      return undefined;
    },
  };
}
