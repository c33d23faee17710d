import { randomUUID } from 'node:crypto';
import { badRequest } from '../../errors/rejection.js';
import { beginMigration } from '../../server-migrations/migration-record.js';
import { checkHostUp, resolveRequestedHost } from '../hosts.js';
import { action, type Change } from '../runner/action.js';
import { failMove, MOVE_TASK_STATES, type MoveArguments, moveServer } from './cold-move.js';

/** A request to cold-migrate a server. */
export interface MigrateRequest {
  /** Name of the destination host. By default, the scheduler selects a host. */
  readonly host?: string;
}

/** Cold-migrates a server to another host. Afterwards, a client must confirm or revert the migration. */
export const migrate = action({
  name: 'migrate',
  vmStates: ['active', 'stopped'],
  lock: true,
  rejectionWithShares: 'CONFLICT',
  during: MOVE_TASK_STATES,
  history: 'migrate',
  notifies: { failed: 'resize' },
  onFailure: 'error',
  begin: async ({ core, context, server }, request: MigrateRequest) => {
    const host = await resolveRequestedHost(core, request.host, (name) =>
      badRequest(`The destination host ${name} is not a compute host.`),
    );
    if (host && host.name === server.host) throw badRequest('The target host cannot be the same one.');
    await checkHostUp(core, server);
    const args: MoveArguments = { migrationId: randomUUID(), flavor: server.flavor, host: host?.name };
    const change: Change = async (tx, current) => {
      await beginMigration(tx, core, context, current, { id: args.migrationId, type: 'migration' });
      return { wasRunning: current.vmState === 'active' };
    };
    return { arguments: args, change };
  },
  run: moveServer,
  fail: failMove,
});
