import type { Session } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { MigrationStatus } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { changeMigration } from '../../server-migrations/migration-record.js';
import type { StartedAction } from '../runner/action.js';

/** The move that is confirmed or reverted. */
export interface PendingMoveArguments {
  readonly migrationId: string;
}

/** Checks a request to confirm or revert a move; 400 if none awaits it. */
export async function beginConfirmOrRevert(
  { core, server }: ServerScope,
  status: MigrationStatus,
): Promise<StartedAction<PendingMoveArguments, void>> {
  const waiting = async (session: Session) => {
    const [migration] = await tables.migrations.find(session, (q) =>
      q.where('server_id', '=', server.id).where('status', '=', 'finished').orderBy('seq', 'desc').limit(1),
    );
    return migration?.id;
  };
  const none = badRequest(`Instance ${server.id} has not been resized.`);
  const migrationId = await waiting(core.store);
  if (migrationId === undefined) throw none;
  return {
    arguments: { migrationId },
    change: async (tx) => {
      if ((await waiting(tx)) !== migrationId) throw none;
      await changeMigration(tx, core, migrationId, { status });
      return undefined;
    },
  };
}
