import { randomUUID } from 'node:crypto';
import type { Context } from '../../../context.js';
import { badRequest, conflict, notFound } from '../../../errors.js';
import { beginMigration, endMigrations } from '../../../migrations/migration-record.js';
import type { EvacuateArguments } from '../../../tasks/rebuild.js';
import { generatePassword } from '../create.js';
import { type ActionScope, findHost, isHostUp } from './scope.js';

export interface EvacuationRequest {
  /** Left out: the scheduler says. */
  readonly host?: string;
  /** Does not ask the scheduler whether the host fits. */
  readonly force?: boolean;
  readonly adminPassword?: string;
  /** The disks survived with the host's storage: the password stays what it was. */
  readonly sharedStorage?: boolean;
  /** Left off at the other end, whatever it was. */
  readonly stop: boolean;
}

/** Bringing servers of a host that is down to life elsewhere. */
export function evacuateActions({ core, servers }: ActionScope) {
  return {
    /** Resolves to the password that the server gets; null where its disk keeps the old one. */
    async evacuate(context: Context, id: string, wanted: EvacuationRequest): Promise<string | null> {
      const server = await servers.ready(context, id, 'evacuate');
      const { host, force, sharedStorage, stop } = wanted;
      if (force && host === undefined) throw badRequest("Can't force to a non-provided destination");
      const found = host === undefined ? undefined : await findHost(core, host);
      if (host !== undefined && !found) throw notFound(`Compute host ${host} could not be found.`);
      if (found && found.name === server.host) throw badRequest("The target host can't be the same one.");
      if (await isHostUp(core, server)) throw badRequest(`Compute service of ${server.host} is still in use.`);
      const adminPassword = sharedStorage ? null : (wanted.adminPassword ?? generatePassword());
      const migrationId = randomUUID();
      const args: EvacuateArguments = { migrationId, host: found?.name, force, adminPassword, stop };
      await servers.act(context, id, 'evacuate', {
        arguments: { ...args },
        also: async (tx, current) => {
          // Any other task is lost with its host; a deletion was promised and stays so.
          if (current.taskState === 'deleting' || current.taskState === 'soft-deleting')
            throw conflict(`Cannot 'evacuate' instance ${id} while it is in task_state ${current.taskState}`);
          await endMigrations(tx, core, id);
          await beginMigration(tx, core, context, current, { id: migrationId, type: 'evacuation' });
          return { wasRunning: current.vmState !== 'stopped', oldFlavor: null, newFlavor: undefined };
        },
      });
      return adminPassword;
    },
  };
}
