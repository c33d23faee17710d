import { randomUUID } from 'node:crypto';
import type { Context } from '../../../context.js';
import { badRequest } from '../../../errors.js';
import { claimDestination } from '../../../migrations/destination.js';
import { beginMigration, changeMigration } from '../../../migrations/migration-record.js';
import { NoValidHost } from '../../../scheduler/scheduler.js';
import type { LiveMigrationArguments } from '../../../tasks/live-migration.js';
import { type ActionScope, findHost, isHostUp } from './scope.js';

export interface LiveMigrationRequest {
  /** Left out: the scheduler says. */
  readonly host?: string;
  /** Does not ask the scheduler whether the host fits. */
  readonly force?: boolean;
  /** Whether a place is looked for before the answer, so that none is a 400, or in the background. */
  readonly checkedFirst: boolean;
}

/** Moving a server while it runs. */
export function liveMigrationActions({ core, servers }: ActionScope) {
  return {
    async liveMigrate(context: Context, id: string, wanted: LiveMigrationRequest): Promise<void> {
      const server = await servers.ready(context, id, 'os-migrateLive');
      const { host, force, checkedFirst } = wanted;
      if (force && host === undefined) throw badRequest("Can't force to a non-provided destination");
      const found = host === undefined ? undefined : await findHost(core, host);
      if (host !== undefined && !found) throw badRequest(`Compute host ${host} could not be found.`);
      if (checkedFirst && found && found.name === server.host)
        throw badRequest(`Unable to migrate instance ${id} to current host (${found.name}).`);
      if (checkedFirst && !(await isHostUp(core, server)))
        throw badRequest(`Compute service of ${server.host} is unavailable at this time.`);
      const map = await core.infrastructure.hosts();
      const migrationId = randomUUID();
      const args: LiveMigrationArguments = { migrationId, host: found?.name, force };
      await servers.act(context, id, 'os-migrateLive', {
        arguments: { ...args },
        also: async (tx, current) => {
          await beginMigration(tx, core, context, current, { id: migrationId, type: 'live-migration' });
          if (!checkedFirst) return undefined;
          const exclude = current.host ? [current.host] : [];
          const place = { flavor: current.flavor, host: found?.name, force, exclude };
          const destination = await claimDestination(tx, core, map, current, place).catch(refuse);
          await changeMigration(tx, core, migrationId, { destHost: destination.host, destNode: destination.node });
          return { claims: [...current.claims, destination.claim] };
        },
      });
    },
  };
}

function refuse(error: unknown): never {
  throw error instanceof NoValidHost ? badRequest(error.message) : error;
}
